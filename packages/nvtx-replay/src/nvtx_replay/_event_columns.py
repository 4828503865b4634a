# SPDX-License-Identifier: Apache-2.0
"""The columns of a table of events, and whether a payload can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import nvtx_schema as nvs

from nvtx_replay._column import Array, Column
from nvtx_replay._layouts import Rows
from nvtx_replay._packing import pack, refused
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._texts import Texts, read_texts
from nvtx_replay.errors import TableError

EventKindName = Literal["mark", "pushpop", "startend"]


@dataclass(frozen=True)
class EventColumns:
    """Which columns of a table play which part; integers stand for all rows."""

    kind: EventKindName
    begin: Column
    end: Column | None = None
    duration: Column | None = None
    message: Column | Texts | None = None
    category: Column | Texts | int | None = None
    color: Column | int | None = None
    payload: Mapping[str, Column | Texts] = field(default_factory=dict)

    def with_texts(self, rows: RowFaults) -> EventColumns:
        """Read the columns of text, which are checked like the times."""

        def read(column: Any) -> Any:
            is_text = isinstance(column, Column) and column.is_text
            return read_texts(column, rows) if is_text else column

        message, category = read(self.message), read(self.category)
        if isinstance(message, Column):
            raise TableError(
                f"column {message.name!r} holds values of dtype {message.values.dtype}; expected "
                "text for messages. Convert it with str, or pass message=None"
            )
        payload = {name: read(column) for name, column in self.payload.items()}
        return replace(self, message=message, category=category, payload=payload)

    def select(self, rows: Rows) -> EventColumns:
        """Return the columns of some rows, but for the times."""

        def pick(column: Any) -> Any:
            return column.select(rows) if isinstance(column, (Column, Texts)) else column

        payload = {name: pick(column) for name, column in self.payload.items()}
        names = ("message", "category", "color")
        return replace(self, payload=payload, **{n: pick(getattr(self, n)) for n in names})

    def settled(self, numbers: Rows) -> EventColumns:
        """Convert categories and colors, and refuse what a payload cannot hold.

        Parameters
        ----------
        numbers : numpy.ndarray of int64
            The numbers of the rows in the user's table, for errors.

        Raises
        ------
        TableError
            If any value of any row cannot be packed; after this, packing cannot fail.
        """
        color, category = self.color, self.category
        if isinstance(color, Column):
            color = _identifiers("color", nvs.color(), color, numbers)
        if isinstance(category, Column):
            category = _identifiers("category", nvs.category(), category, numbers)
        for name, column in self.payload.items():
            if isinstance(column, Column):
                _check_values(name, column, numbers)
        with refused():
            specs = {name: field_of(column) for name, column in self.payload.items()}
            nvs.Schema("mark", [(_unused(specs), nvs.mark_time()), *specs.items()])
        return replace(self, color=color, category=category)


def field_of(column: Column | Texts) -> Any:
    """Return the field of a payload column; of text, one of any width."""
    if isinstance(column, Texts):
        return nvs.text(1)
    return np.dtype((column.values.dtype, column.values.shape[1:]))


def _unused(names: Mapping[str, Any]) -> str:
    name = "time"
    while name in names:
        name += "_"
    return name


def _identifiers(name: str, spec: Any, column: Column, numbers: Rows) -> Column:
    """Return colors or categories as uint32, 0 where a row has none."""
    values: Any
    if column.is_text:
        values = [text or "#00000000" for text in column.texts()]
    elif column.nulls is None:
        values = column.values
    else:
        values = np.where(column.nulls, np.zeros(1, dtype=column.values.dtype), column.values)
    return Column(column.name, _packed_alone(name, spec, values, numbers))


def _packed_alone(name: str, spec: Any, values: Any, numbers: Rows) -> Array:
    with refused(numbers):
        schema = nvs.Schema("mark", {"at": nvs.mark_time(), name: spec})
        return np.asarray(pack(schema, {"at": np.zeros(len(values), np.int64), name: values})[name])


def _check_values(name: str, column: Column, numbers: Rows) -> None:
    kind = column.values.dtype.kind
    if kind == "M" and not column.has_zone:
        raise TableError(
            f"column {name!r} holds dates without a time zone; say which it is (in pandas "
            "dt.tz_localize) or pass integers"
        )
    if kind == "O":
        raise TableError(
            f"column {name!r} holds values of several types or of types that a payload cannot "
            f"hold, such as {_odd(column)!r}; convert it to numbers or text"
        )
    if kind not in "biuf":  # their values may still not fit; numbers always do
        present = slice(None) if column.nulls is None else ~column.nulls
        chosen = column.select(present)
        plain = name if name != "at" else "at_"
        _packed_alone(plain, field_of(chosen), chosen.values, numbers[present])


def _odd(column: Column) -> Any:
    """Return the first value whose type differs from that of the first row."""
    present = column.values if column.nulls is None else column.values[~column.nulls]
    return next((v for v in present if type(v) is not type(present[0])), present[0])
