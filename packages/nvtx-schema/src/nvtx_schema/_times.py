# SPDX-License-Identifier: Apache-2.0
"""Dates and durations to int64 nanoseconds, in integers all the way."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal, TypeAlias

import numpy as np

from ._column import Array, Column, ColumnFault, is_missing, missing, rows_of
from ._numbers import Casting, to_number, wrong_kind

Naive: TypeAlias = Literal["refuse", "utc"]

_INT64 = np.dtype(np.int64)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_NAIVE_REMEDY = "give them a time zone, pass int64 ns, or naive='utc' if they are UTC"


def holds_times(values: Array) -> bool:
    """Tell whether any value is a date or a duration."""
    if values.dtype.kind == "O":
        kinds = (dt.date, dt.timedelta, np.datetime64, np.timedelta64)
        return any(isinstance(value, kinds) for value in values.ravel().tolist())
    return values.dtype.kind in "Mm"


def to_instant(column: Column, naive: Naive, casting: Casting, *, declared: bool) -> Array:
    """Convert dates to int64 ns since 1970-01-01 UTC.

    ``declared`` says that the field itself is a datetime64, which has no zone and is UTC here.
    """
    values = column.decoded()
    if values.dtype.kind == "M":
        if not (declared or column.aware or naive == "utc"):
            raise ColumnFault(
                "dates have no time zone", _NAIVE_REMEDY, rows_of(np.ones(len(values)))
            )
        return _nanoseconds(values)
    if values.dtype.kind == "O" and holds_times(values):
        return _dates_to_ns(values.tolist(), naive, declared)
    if values.dtype.kind == "m":
        raise wrong_kind(values, "dates", "add the durations to a date")
    return to_number(values, _INT64, casting)


def to_duration(values: Array, casting: Casting) -> Array:
    """Convert durations to int64 ns."""
    if values.dtype.kind == "m":
        return _nanoseconds(values)
    if values.dtype.kind == "O" and holds_times(values):
        return _durations_to_ns(values.tolist())
    if values.dtype.kind == "M":
        raise wrong_kind(values, "durations", "subtract a date")
    return to_number(values, _INT64, casting)


_SECOND = 10**9
_WHOLE = {
    "ns": 1, "us": 10**3, "ms": 10**6, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND,
    "D": 86_400 * _SECOND, "W": 604_800 * _SECOND,
}  # fmt: skip
_PARTS = {"ps": 10**3, "fs": 10**6, "as": 10**9}
# Units of the calendar become days first; within these counts from 1970 that cannot overflow.
_CALENDAR = {"Y": 400, "M": 4_800}


def _nanoseconds(values: Array) -> Array:
    """Convert datetime64 or timedelta64 by our own arithmetic: NumPy's own cast may wrap."""
    empty = np.isnat(values)
    if empty.any():
        raise missing(empty)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    unit, step = np.datetime_data(values.dtype)
    if unit in _CALENDAR and values.dtype.kind == "M":
        _refuse_far(np.abs(values.view(np.int64)) > _CALENDAR[unit] // step, values)
        values, unit, step = values.astype("M8[D]"), "D", 1
    counts = values.view(np.int64)
    if unit in _WHOLE:
        factor = _WHOLE[unit] * step
        limit = (2**63 - 1) // factor
        _refuse_far((counts > limit) | (counts < -limit), values)
        return counts if factor == 1 else counts * factor
    if unit not in _PARTS or step != 1:
        found = f"{values.dtype} has no fixed number of nanoseconds"
        raise ColumnFault(found, "use a unit from weeks to nanoseconds")
    _refuse_far(counts % _PARTS[unit] != 0, values)
    return np.asarray(counts // _PARTS[unit])


def _refuse_far(bad: Array, values: Array) -> None:
    if bad.any():
        found = f"{values.dtype} values do not fit int64 nanoseconds exactly"
        raise ColumnFault(found, "round them to ns, within 1678 to 2262", rows_of(bad))


def _dates_to_ns(flat: list[Any], naive: Naive, declared: bool) -> Array:
    empty = np.array([is_missing(value) for value in flat])
    if empty.any():
        raise missing(empty)
    bad = np.array([not isinstance(v, dt.datetime | np.datetime64) for v in flat])
    if bad.any():
        found = "values that are no dates with time stand between dates"
        raise ColumnFault(found, "use datetime objects in every row", rows_of(bad))
    unknown = np.array([_is_naive(value, declared) for value in flat])
    if naive != "utc" and unknown.any():
        raise ColumnFault("dates have no time zone", _NAIVE_REMEDY, rows_of(unknown))
    return _fitting([_instant_ns(value) for value in flat])


def _is_naive(value: dt.datetime | np.datetime64, declared: bool) -> bool:
    return not declared if isinstance(value, np.datetime64) else value.utcoffset() is None


def _instant_ns(value: Any) -> int:
    if isinstance(value, np.datetime64):
        return int(_nanoseconds(np.array([value]))[0])
    if value.tzinfo is None:
        value = value.replace(tzinfo=dt.timezone.utc)
    # pandas.Timestamp is a datetime with three more digits.
    return _duration_ns(value - _EPOCH)


def _durations_to_ns(flat: list[Any]) -> Array:
    empty = np.array([is_missing(value) for value in flat])
    if empty.any():
        raise missing(empty)
    bad = np.array([not isinstance(v, dt.timedelta | np.timedelta64) for v in flat])
    if bad.any():
        found = "values that are no durations stand between durations"
        raise ColumnFault(found, "use timedelta objects in every row", rows_of(bad))
    return _fitting([_duration_ns(value) for value in flat])


def _duration_ns(value: Any) -> int:
    if isinstance(value, np.timedelta64):
        return int(_nanoseconds(np.array([value]))[0])
    seconds = value.days * 86_400 + value.seconds
    return int(seconds * 10**6 + value.microseconds) * 1000 + int(getattr(value, "nanoseconds", 0))


def _fitting(numbers: list[int]) -> Array:
    outside = np.array([not -(2**63) <= number < 2**63 for number in numbers], dtype=bool)
    if outside.any():
        found = "dates or durations do not fit int64 nanoseconds"
        raise ColumnFault(found, "use a date within 1678 to 2262", rows_of(outside))
    return np.array(numbers, dtype=np.int64)
