# SPDX-License-Identifier: Apache-2.0
"""Rows of a schema that the caller chose, checked and packed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import nvtx.writer
import nvtx_schema as nvs
from nvtx import EntryKind

from nvtx_replay._column import Array, Column, read_column
from nvtx_replay._packing import refused
from nvtx_replay._roles import Roles, roles_of
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._spans import ends_not_before
from nvtx_replay._strings import StringStore
from nvtx_replay._table import is_table, read_table
from nvtx_replay._times import Times, times_of
from nvtx_replay.errors import TableError


@dataclass(frozen=True)
class Form:
    """A schema in the two shapes that this package needs."""

    schema: nvs.Schema
    roles: Roles
    dtype: Any

    @classmethod
    def of(cls, schema: Any) -> Form:
        """Return the form of an ``nvtx_schema.Schema`` or an ``nvtx.writer.Schema``."""
        if isinstance(schema, nvs.Schema):
            return cls(schema, roles_of(schema.dtype), schema.dtype)
        if not isinstance(schema, nvtx.writer.Schema):
            raise TypeError(
                f"schema is of type {type(schema).__name__}; expected an nvtx_schema.Schema or an "
                "nvtx.writer.Schema"
            )
        if schema.kind is None:
            raise TableError("the schema describes no event; pass kind= to Domain.get_schema")
        roles = roles_of(schema.dtype)
        with refused():
            known = nvs.Schema.from_dtype(schema.kind, *_with_plain_message(schema.dtype, roles))
        return cls(known, roles, schema.dtype)


def _with_plain_message(dtype: Any, roles: Roles) -> tuple[Any, dict[str, EntryKind]]:
    """Take the role off a message's text: nvtx warns when it is put on such a field again."""
    name = roles.message
    if name is None or dtype[name].kind != "U":
        return dtype, {}
    layout: Any = {
        "names": list(dtype.names),
        "formats": [np.dtype(dtype[n].str) if n == name else dtype[n] for n in dtype.names],
        "offsets": [dtype.fields[n][1] for n in dtype.names],
        "itemsize": dtype.itemsize,
    }
    return np.dtype(layout), {name: EntryKind.MESSAGE}


def columns_of(form: Form, rows: Any) -> tuple[Mapping[str, Any], int]:
    """Return rows of any kind, tables and sequences of tuples, as columns by field name."""
    if is_table(rows):
        table = read_table(rows)
        return {name: _plain(column) for name, column in table.columns.items()}, table.rows
    if not isinstance(rows, Iterable):
        raise TableError(f"rows are of type {type(rows).__name__}; expected a table or tuples")
    entries = list(rows)
    names = form.schema.names
    for number, entry in enumerate(entries):
        if len(entry) != len(names):
            raise TableError(
                f"row {number} has {len(entry)} values; the schema has {len(names)} fields "
                f"({', '.join(names)})"
            )
    columns = zip(*entries, strict=True) if entries else ([] for _ in names)
    return {name: list(values) for name, values in zip(names, columns, strict=True)}, len(entries)


def _plain(column: Column) -> Any:
    """Return a column's values without its dictionary; missing ones as None."""
    if column.nulls is None:
        return column.values if column.labels is None else column.texts()
    values = column.texts() if column.is_text else column.values.tolist()
    return [None if gone else v for v, gone in zip(values, column.nulls.tolist(), strict=True)]


def pack_checked(
    form: Form, columns: Mapping[str, Any], rows: RowFaults, strings: StringStore, *, dates: bool
) -> tuple[Array, Times, Times]:
    """Return the rows to be written, with their begins and ends.

    The times are checked here, by the stream's way of handling faults; all else by
    nvtx-schema, which refuses what the fields cannot hold.
    """
    given = dict(columns)
    begins, ends = _times(form.roles, given, rows, dates=dates)
    cut = _too_long(form.schema, given, rows)
    kept = rows.keep
    numbers = np.flatnonzero(kept)
    if not kept.all():
        given = {name: _selected(name, values, kept) for name, values in given.items()}
    begins, ends = begins[kept], ends[kept]
    for name, values in ((form.roles.begin, begins), (form.roles.end, ends)):
        if name is not None:
            given[name] = values
    with refused(numbers):
        packed = form.schema.pack(given, domain=strings.bounded, order="any", truncate=cut)
    return packed, begins, ends


def _times(
    roles: Roles, given: Mapping[str, Any], rows: RowFaults, *, dates: bool
) -> tuple[Times, Times]:
    """Return begins and ends; a half has one of them, which stands for both."""
    found = [
        times_of(read_column(name, given[name]), rows, dates=dates)
        for name in (roles.begin, roles.end)
        if name is not None and name in given
    ]
    if not found:
        none = np.zeros(len(rows.keep), dtype=np.int64)
        return none, none  # packing names the column that is missing
    if len(found) == 2:
        found[1] = ends_not_before(found[0], found[1], rows)
    return found[0], found[-1]


def _too_long(schema: nvs.Schema, given: Mapping[str, Any], rows: RowFaults) -> list[str]:
    """Check texts against the width of their fields; return the fields to be cut."""
    cut = []
    for name, field in schema.fields.items():
        if field.base.kind != "U" or name not in given:
            continue
        column = read_column(name, given[name])
        if not column.is_text:
            continue  # packing says what is wrong
        width = field.base.itemsize // 4
        lengths = np.array(list(map(len, column.texts())), dtype=np.int64)
        wrong = rows.check(
            "text_too_long",
            lengths > width,
            lambda row, name=name, lengths=lengths, width=width: (  # type: ignore[misc]
                f"has {lengths[row]} characters in field {name!r}, which holds {width}"
            ),
        )
        if wrong.any():
            cut.append(name)
    return cut


def _selected(name: str, values: Any, kept: Any) -> Any:
    return _plain(read_column(name, values).select(kept))
