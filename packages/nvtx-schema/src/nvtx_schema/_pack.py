# SPDX-License-Identifier: Apache-2.0
"""Packing columns into rows: read, convert, check, and only then register and copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ._column import Array, Column, ColumnFault
from ._convert import Options, convert, read_field
from ._handles import Later
from ._order import end_problems, order_problems, sorting
from ._tables import columns_of
from .errors import PackError, Problem

if TYPE_CHECKING:
    from ._schema import Schema

_CHOICES = {
    "casting": ("exact", "same_kind", "unsafe"),
    "order": ("sorted", "sort", "any"),
    "naive": ("refuse", "utc"),
}


def pack_rows(
    schema: Schema, given: tuple[Any, Mapping[str, Any]], domain: Any, raw: Mapping[str, Any]
) -> Array:
    """Pack a table and further columns; raises PackError with every fault."""
    options = _options(schema, domain, raw)
    columns, problems = _columns(schema, *given)
    read = _read(schema, columns, problems)
    count = _row_count(read, problems)
    ready = _convert(schema, read, count, options, problems)
    problems += end_problems(schema, ready)
    problems += order_problems(schema, ready) if options.order == "sorted" else []
    if problems:
        raise PackError(problems)
    # A view keeps the bytes as they are; a looser casting may have to change them.
    rows = _viewed(schema, given[0]) if options.casting == "exact" and not given[1] else None
    if rows is None:
        rows = _copied(schema, ready, count)
    permutation = sorting(schema, ready) if options.order == "sort" else None
    return rows if permutation is None else rows[permutation]


def _options(schema: Schema, domain: Any, raw: Mapping[str, Any]) -> Options:
    problems = [
        Problem(None, f"{name}={raw[name]!r} is not known", f"use one of {', '.join(known)}")
        for name, known in _CHOICES.items()
        if not isinstance(raw[name], str) or raw[name] not in known
    ]
    truncate, cut = raw["truncate"], None
    if not isinstance(truncate, bool | np.bool_):
        named = [truncate] if isinstance(truncate, str) else truncate
        cut = frozenset(named) if isinstance(named, Iterable) else frozenset([repr(named)])
        for name in sorted(cut - set(schema.names), key=str):
            found = f"truncate= names {name!r}, which is no field"
            problems.append(Problem(None, found, f"name some of {', '.join(schema.names)}"))
    for name in (*_CHOICES, "truncate", "domain"):
        if problems and name in schema.names:
            found = f"{name}= is an option of pack() and also a field"
            problems.append(Problem(name, found, "pass the column in a dict"))
    if problems:
        raise PackError(problems)
    settings = {name: raw[name] for name in _CHOICES}
    return Options(bool(truncate) if cut is None else cut, domain=domain, **settings)


def _columns(
    schema: Schema, table: Any, more: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Problem]]:
    problems = []
    try:
        columns = columns_of(table)
    except ColumnFault as fault:
        raise PackError([Problem(None, fault.found, fault.remedy)]) from None
    for name in columns.keys() & more.keys():
        found = "the column is in the table and also passed by name"
        problems.append(Problem(name, found, "pass it once"))
    columns.update(more)
    remedy = "pass it (or one value for all rows)"
    problems += [
        Problem(name, "the column is missing", remedy)
        for name in schema.names
        if name not in columns
    ]
    for name in columns.keys() - set(schema.names):
        found = f"the column is not in the schema ({', '.join(schema.names)})"
        problems.append(Problem(str(name), found, "leave it out or add a field for it"))
    return columns, sorted(problems, key=lambda problem: str(problem.field))


def _read(schema: Schema, columns: Mapping[str, Any], problems: list[Problem]) -> dict[str, Column]:
    read = {}
    for name, field in schema.fields.items():
        if name in columns:
            with _noted(name, problems):
                read[name] = read_field(field, columns[name])
    return read


def _convert(
    schema: Schema,
    read: Mapping[str, Column],
    count: int,
    options: Options,
    problems: list[Problem],
) -> dict[str, Array | Later]:
    ready = {}
    fields = schema.fields
    for name, column in read.items():
        # One value for many rows is converted once; its fault lies in no single row.
        with _noted(name, problems, in_rows=count == 1 or not column.is_scalar):
            ready[name] = convert(name, fields[name], column.as_rows(), options)
    return ready


@contextmanager
def _noted(name: str, problems: list[Problem], *, in_rows: bool = True) -> Iterator[None]:
    """Note a column's fault and go on, so that all faults are told at once."""
    try:
        yield
    except ColumnFault as fault:
        rows = fault.rows if in_rows else ()
        problems.append(Problem(name, fault.found, fault.remedy, rows))


def _row_count(read: Mapping[str, Column], problems: list[Problem]) -> int:
    lengths = {name: len(c.values) for name, c in read.items() if not c.is_scalar}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        found = f"the columns differ in length ({text})"
        problems.append(Problem(None, found, "pass one value for each row"))
    return next(iter(lengths.values()), 1)


def _viewed(schema: Schema, table: Any) -> Array | None:
    """Return a view where the table is rows in this very layout."""
    if type(table) is not np.ndarray or table.ndim != 1 or table.dtype != schema.dtype:
        return None
    return table.view(schema.dtype)


def _copied(schema: Schema, ready: Mapping[str, Array | Later], count: int) -> Array:
    # Zeroed, so that padding does not carry stray memory into the trace.
    rows = np.zeros(count, dtype=schema.dtype)
    for name, values in ready.items():
        rows[name] = values() if callable(values) else values
    return rows
