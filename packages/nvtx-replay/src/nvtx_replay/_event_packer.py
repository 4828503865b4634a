# SPDX-License-Identifier: Apache-2.0
"""From the columns of a table of events to rows that the writer takes, one layout at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import nvtx_schema as nvs

from nvtx_replay._column import Array, Column
from nvtx_replay._layouts import Rows, groups, layout_keys
from nvtx_replay._packing import pack, refused
from nvtx_replay._strings import StringStore
from nvtx_replay._texts import TextPlan, Texts, plan_texts
from nvtx_replay._times import Times
from nvtx_replay.errors import TableError

EventKindName = Literal["mark", "pushpop", "startend"]
Resolve: TypeAlias = Callable[[], Array]


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

    def select(self, rows: Rows) -> EventColumns:
        """Return the columns of some rows, but for the times."""

        def pick(column: Any) -> Any:
            return column.select(rows) if isinstance(column, (Column, Texts)) else column

        payload = {name: pick(column) for name, column in self.payload.items()}
        names = ("message", "category", "color")
        return replace(self, payload=payload, **{n: pick(getattr(self, n)) for n in names})


@dataclass(frozen=True)
class EventRows:
    """Packed rows of one layout; some of their fields are filled in when they are written."""

    schema: nvs.Schema
    rows: Array
    begins: Times
    fills: tuple[tuple[str, Resolve], ...]

    def complete(self) -> Array:
        """Register what the rows refer to, and return them."""
        for name, resolve in self.fills:
            self.rows[name] = resolve()
        return self.rows


class _Layout:
    """The fields of one group of rows, with their values."""

    def __init__(self, taken: Mapping[str, Any]) -> None:
        self._taken = taken
        self.fields: dict[str, Any] = {}
        self.columns: dict[str, Any] = {}
        self.fills: list[tuple[str, Resolve]] = []

    def add(self, name: str, spec: Any, values: Any) -> None:
        """Add a field whose values are known."""
        self.fields[name] = spec
        self.columns[name] = values

    def add_later(self, name: str, spec: Any, resolve: Resolve) -> None:
        """Add a field whose values come from the backend, zero until then."""
        self.add(name, spec, 0)
        self.fills.append((name, resolve))

    def free(self, name: str) -> str:
        """Return a name that no payload field has; the names of roles are not shown."""
        while name in self._taken or name in self.fields:
            name += "_"
        return name


class Packer:
    """Packs the rows of a table that were found to be in order.

    Parameters
    ----------
    parts : EventColumns
        The columns, of those rows alone.
    begins, ends : numpy.ndarray of int64
        The times of the rows; equal for marks.
    numbers : numpy.ndarray of int64
        The rows' numbers in the table, for errors.
    strings : StringStore
        The domain's registered strings.
    """

    def __init__(
        self, parts: EventColumns, begins: Times, ends: Times, numbers: Rows, strings: StringStore
    ) -> None:
        self._parts = parts
        self._begins = begins
        self._ends = ends
        self._numbers = numbers
        self._strings = strings
        message = parts.message
        self._message = (
            plan_texts(message, strings, per_row=True) if isinstance(message, Texts) else None
        )
        self._texts = {
            name: plan_texts(texts, strings, per_row=False)
            for name, texts in parts.payload.items()
            if isinstance(texts, Texts)
        }

    def pack(self, *, keep_order: bool) -> Iterator[EventRows]:
        """Yield the rows by layout."""
        plans = list(self._texts.values())
        if self._message is not None:
            plans.append(self._message)
        nulls = [column.nulls for column in self._parts.payload.values()]
        keys = layout_keys(nulls, plans, len(self._begins))
        for rows in groups(keys, self._begins, self._ends, keep_order=keep_order):
            yield self._pack_group(rows)

    def _pack_group(self, rows: Rows) -> EventRows:
        layout = _Layout(self._parts.payload)
        self._add_times(layout, rows)
        if self._message is not None:
            name = layout.free("message")
            self._add_text(layout, name, self._message, rows, nvs.message)
        self._add_category(layout, rows)
        self._add_color(layout, rows)
        for name, column in self._parts.payload.items():
            self._add_payload(layout, name, column, rows)
        with refused(self._numbers[rows]):
            schema = nvs.Schema(self._parts.kind, layout.fields)
            packed = pack(schema, layout.columns)
        return EventRows(schema, packed, self._begins[rows], tuple(layout.fills))

    def _add_times(self, layout: _Layout, rows: Rows) -> None:
        if self._parts.kind == "mark":
            layout.add(layout.free("time"), nvs.mark_time(), self._begins[rows])
            return
        layout.add(layout.free("start"), nvs.range_begin(), self._begins[rows])
        layout.add(layout.free("end"), nvs.range_end(), self._ends[rows])

    def _add_text(
        self, layout: _Layout, name: str, plan: TextPlan, rows: Rows, spec: Callable[[Any], Any]
    ) -> None:
        if plan.registered[rows].all():
            layout.add_later(name, spec("registered"), lambda: plan.handles(rows, self._strings))
        else:
            layout.add(name, spec(plan.width(rows)), plan.plain(rows))

    def _add_category(self, layout: _Layout, rows: Rows) -> None:
        category = self._parts.category
        if category is None:
            return
        name = layout.free("category")
        if isinstance(category, int):
            layout.add(name, nvs.category(), category)
        elif isinstance(category, Texts):
            chosen = category.select(rows)
            layout.add_later(name, nvs.category(), lambda: self._category_ids(chosen))
        else:
            layout.add(name, nvs.category(), _or_zero(category.select(rows)))

    def _category_ids(self, texts: Texts) -> Array:
        """Return the ids of categories by name; no name is no category."""
        domain = self._strings.domain
        ids = np.zeros(len(texts.labels), dtype=np.uint32)
        for code in texts.used().tolist():
            name = texts.labels[code]
            ids[code] = domain.get_category_id(name) if name else 0
        return ids[texts.codes]

    def _add_color(self, layout: _Layout, rows: Rows) -> None:
        color = self._parts.color
        if color is None:
            return
        name = layout.free("color")
        if isinstance(color, int):
            layout.add(name, nvs.color(), color)
        elif color.is_text:
            texts = color.select(rows).texts()
            layout.add(name, nvs.color(), [text or "#00000000" for text in texts])
        else:
            layout.add(name, nvs.color(), _or_zero(color.select(rows)))

    def _add_payload(self, layout: _Layout, name: str, column: Column | Texts, rows: Rows) -> None:
        if column.nulls is not None and column.nulls[rows[0]]:
            return  # a field without a value is left out; the layout's rows agree in that
        if isinstance(column, Texts):
            self._add_text(layout, name, self._texts[name], rows, _text_field)
            return
        values = column.values[rows]
        if values.dtype.kind == "M" and not column.has_zone:
            raise TableError(
                f"column {name!r} holds dates without a time zone; say which it is (in pandas "
                "dt.tz_localize) or pass integers"
            )
        if values.dtype.kind == "O":
            raise TableError(
                f"column {name!r} holds values of several types or of types that a payload cannot "
                f"hold, such as {_odd(values)!r}; convert it to numbers or text"
            )
        layout.add(name, np.dtype((values.dtype, values.shape[1:])), values)


def _text_field(width: Any) -> Any:
    return nvs.registered_string() if width == "registered" else nvs.text(width)


def _or_zero(column: Column) -> Array:
    if column.nulls is None:
        return column.values
    return np.where(column.nulls, np.zeros(1, dtype=column.values.dtype), column.values)


def _odd(values: Array) -> Any:
    """Return the first value whose type differs from that of the first row."""
    return next((v for v in values if type(v) is not type(values[0])), values[0])
