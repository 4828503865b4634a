# SPDX-License-Identifier: Apache-2.0
"""From a column of any source to the storage of one field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._column import Array, Column, ColumnFault, read_column, rows_of
from ._field import Field
from ._handles import Later, to_enum_text, to_identifier
from ._kinds import TIME_ROLES
from ._numbers import Casting, to_number, wrong_kind
from ._tables import columns_of
from ._text import to_bytes, to_text
from ._times import Naive, holds_times, to_duration, to_instant


@dataclass(frozen=True)
class Options:
    """How strict packing is."""

    truncate: frozenset[str] | bool
    casting: Casting
    order: str
    naive: Naive
    domain: Any

    def may_cut(self, name: str) -> bool:
        """Tell whether the values of a field may be cut."""
        return self.truncate if isinstance(self.truncate, bool) else name in self.truncate


def read_field(field: Field, data: Any) -> Column:
    """Read the column of a field; structures are read member by member, later."""
    if field.source == "struct":
        return _struct_column(data)
    column = read_column(data, field.shape)
    values = column.values
    if column.is_scalar and not field.shape:
        return column
    if values.shape[1:] == field.shape and values.ndim == len(field.shape) + 1:
        return column
    if field.shape and values.shape == (0,):
        return Column(values.reshape(0, *field.shape))
    expected = "x".join(map(str, ("rows", *field.shape)))
    found = f"the column has the shape {values.shape}, not {expected}"
    raise ColumnFault(found, "pass one value a row")


def _struct_column(data: Any) -> Column:
    if isinstance(data, np.ndarray) and data.dtype.names:
        return Column(data)
    found = f"{type(data).__name__} stands where structures are expected"
    raise ColumnFault(found, "pass a structured NumPy array with these members")


def convert(name: str, field: Field, column: Column, options: Options) -> Array | Later:
    """Convert a column to a field's storage; raises ColumnFault with the rows at fault."""
    count = math.prod(field.shape)
    flat = Column(
        column.values.reshape(-1) if field.shape else column.values, column.labels, column.aware
    )
    try:
        result = _convert_flat(name, field, flat, options)
    except ColumnFault as fault:
        rows = tuple(dict.fromkeys(row // count for row in fault.rows)) if count > 1 else fault.rows
        raise ColumnFault(fault.found, fault.remedy, rows) from None
    if not field.shape:
        return result
    if callable(result):
        work = result
        return lambda: work().reshape(-1, *field.shape)
    return result.reshape(-1, *field.shape)


def _convert_flat(name: str, field: Field, column: Column, options: Options) -> Array | Later:
    if field.source == "struct":
        return _convert_struct(name, field, column.values, options)
    if not column.values.size:
        return np.empty(0, dtype=field.base)
    if field.source == "enum":
        column = to_enum_text(column, field.labels)
    if field.entry_type is not None:
        return to_identifier(column, field.entry_type, field.base, options.domain)
    if field.source == "text":
        return to_text(column, field.base, options.may_cut(name))
    if field.source == "bytes":
        return to_bytes(column.decoded(), field.base, options.may_cut(name))
    return _convert_numeric(field, column, options)


def _convert_numeric(field: Field, column: Column, options: Options) -> Array:
    if field.source == "bool":
        return _to_bool(column.decoded(), options.casting)
    if field.source == "timedelta":
        return to_duration(column.decoded(), options.casting)
    if field.source == "datetime" or (field.role in TIME_ROLES and holds_times(column.decoded())):
        declared = field.source == "datetime"
        times = to_instant(column, options.naive, options.casting, declared=declared)
        return to_number(times, field.base, options.casting)
    return _plain_number(field, column.decoded(), options.casting)


def _plain_number(field: Field, values: Array, casting: Casting) -> Array:
    if holds_times(values):
        remedy = "declare the field as 'datetime64[ns]' or 'timedelta64[ns]'"
        raise ColumnFault("dates or durations stand in a field of plain numbers", remedy)
    numbers = to_number(values, field.base, casting)
    if field.source == "intenum":
        bad = ~np.isin(numbers, [number for _, number in field.labels])
        if bad.any():
            names = ", ".join(f"{name}={number}" for name, number in field.labels)
            found = f"values are no members ({names})"
            raise ColumnFault(found, "correct them or use a plain integer", rows_of(bad))
    return numbers


def _to_bool(values: Array, casting: Casting) -> Array:
    if values.dtype.kind not in "biufO":
        raise wrong_kind(values, "truth values", "pass booleans")
    if values.dtype.kind == "f" and casting != "unsafe":
        raise ColumnFault("floats stand where truth values are expected", "pass booleans")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ColumnFault("NaN is neither true nor false", "fill it", rows_of(np.isnan(values)))
    if values.dtype.kind == "O":
        values = to_number(values, np.dtype(np.int64), "exact")
    bad = (values != 0) & (values != 1)
    if bad.any() and casting != "unsafe":
        found = "numbers other than 0 and 1 stand where truth values are expected"
        raise ColumnFault(found, "pass booleans, or casting='unsafe'", rows_of(bad))
    return np.asarray(values != 0).view(np.uint8)


def _convert_struct(name: str, field: Field, values: Array, options: Options) -> Later:
    columns = columns_of(values)
    given, wanted = set(columns), {member for member, _, _ in field.members}
    if given != wanted:
        found = f"the structure has the members {sorted(given)}, not {sorted(wanted)}"
        raise ColumnFault(found, "pass exactly these members")
    done = {
        member: _convert_member(name, member, (inner, columns[member]), options)
        for member, _, inner in field.members
    }

    def resolve() -> Array:
        rows = np.zeros(len(values), dtype=field.base)
        for member, result in done.items():
            rows[member] = result() if callable(result) else result
        return rows

    return resolve


def _convert_member(
    name: str, member: str, given: tuple[Field, Any], options: Options
) -> Array | Later:
    inner, data = given
    try:
        return convert(name, inner, read_field(inner, data), options)
    except ColumnFault as fault:
        found = f"in {member!r}, {fault.found}"
        raise ColumnFault(found, fault.remedy, fault.rows) from None
