# SPDX-License-Identifier: Apache-2.0
"""Columns of timestamps and durations as exact int64 values."""

from __future__ import annotations

import contextlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nvtx_replay._clock import INT64_MAX, INT64_MIN
from nvtx_replay._column import Column
from nvtx_replay._row_faults import RowFaults
from nvtx_replay.errors import TableError

Times: TypeAlias = NDArray[np.int64]

# Above this, a float64 no longer tells one nanosecond from the next.
_EXACT_FLOAT = 2.0**53


def times_of(column: Column, rows: RowFaults, *, dates: bool) -> Times:
    """Return a column as int64; rows that hold no exact time are treated as faults.

    Parameters
    ----------
    column : Column
        Integers in the stream's time domain, or dates with a time zone.
    rows : RowFaults
        Where rows without a time are struck out.
    dates : bool
        Whether dates may stand for timestamps: the stream counts from the Unix epoch.
    """
    if column.nulls is not None:
        _strike_missing(column, column.nulls, rows)
    kind = column.values.dtype.kind
    if kind == "f":
        return _from_floats(column, rows)
    if kind in "iu":
        return _from_integers(column, rows)
    if kind == "M":
        return _from_dates(column, dates)
    if kind == "m":
        return _in_nanoseconds(column)
    if kind == "O" and all(type(value) is int for value in column.values[rows.keep]):
        return _from_big_integers(column, rows)
    raise TableError(
        f"column {column.name!r} holds {_describe(column)}; expected integers of nanoseconds"
    )


def _describe(column: Column) -> str:
    return "text" if column.is_text else f"values of dtype {column.values.dtype}"


def _strike_missing(column: Column, missing: Any, rows: RowFaults) -> None:
    rows.check(
        "missing_timestamp",
        missing,
        lambda row: f"has no value in column {column.name!r}",
        repairable=False,
    )


def _from_floats(column: Column, rows: RowFaults) -> Times:
    values = column.values.astype(np.float64)
    finite = np.isfinite(values)
    _strike_missing(column, ~finite, rows)
    whole = np.where(finite, np.rint(values), 0.0)
    inexact = finite & ((whole != values) | (np.abs(values) > _EXACT_FLOAT))
    # A float column is suspect as a whole: it may hold seconds, or have lost its last digits.
    wrong = finite if rows.on_error == "raise" and not inexact.any() else inexact
    rows.check(
        "float_timestamp",
        wrong,
        lambda row: (
            f"holds the float {values[row].item()!r} in column {column.name!r}; expected integer "
            "nanoseconds"
        ),
    )
    _strike_too_large(column, np.abs(whole) >= 2.0**63, rows)
    return np.where(np.abs(whole) < 2.0**63, whole, 0.0).astype(np.int64)


def _strike_too_large(column: Column, wrong: Any, rows: RowFaults) -> None:
    rows.check(
        "timestamp_out_of_range",
        wrong,
        lambda row: (
            f"holds {column.values[row]} in column {column.name!r}, which does not fit in "
            "a signed 64-bit integer"
        ),
        repairable=False,
    )


def _from_integers(column: Column, rows: RowFaults) -> Times:
    if column.values.dtype == np.uint64:
        _strike_too_large(column, column.values > np.uint64(INT64_MAX), rows)
    return column.values.astype(np.int64)


def _from_big_integers(column: Column, rows: RowFaults) -> Times:
    values = [value if type(value) is int else 0 for value in column.values]
    fits = np.array([INT64_MIN <= value <= INT64_MAX for value in values], dtype=bool)
    _strike_too_large(column, ~fits, rows)
    return np.array([v if ok else 0 for v, ok in zip(values, fits, strict=True)], dtype=np.int64)


def _from_dates(column: Column, dates: bool) -> Times:
    if not column.has_zone:
        raise TableError(
            f"column {column.name!r} holds dates without a time zone; say which it is (in pandas "
            "dt.tz_localize) or pass integer nanoseconds"
        )
    if not dates:
        raise TableError(
            f"column {column.name!r} holds dates, but the stream's time domain is not 'realtime'; "
            "open the stream with time_domain='realtime' or pass integers of its clock"
        )
    return _in_nanoseconds(column)


def _in_nanoseconds(column: Column) -> Times:
    """Convert dates or durations of any unit exactly."""
    values = (
        column.values
        if column.nulls is None
        else np.where(column.nulls, np.zeros(1, dtype=column.values.dtype), column.values)
    )
    fine = None
    with contextlib.suppress(OverflowError):  # NumPy 2.4 and older wrap silently instead
        fine = values.astype(f"{values.dtype.kind}8[ns]")
    if fine is None or not np.array_equal(fine.astype(values.dtype), values):
        raise TableError(
            f"column {column.name!r} has dates or durations that nanoseconds in 64 bits cannot "
            "hold exactly; convert them to integers of the stream's clock"
        )
    return fine.astype(np.int64)
