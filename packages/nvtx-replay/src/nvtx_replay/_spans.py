# SPDX-License-Identifier: Apache-2.0
"""Checks of whole columns of begins and ends."""

from __future__ import annotations

import numpy as np

from nvtx_replay._clock import INT64_MAX
from nvtx_replay._ordering import Promise
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._times import Times


def ends_not_before(begins: Times, ends: Times, rows: RowFaults) -> Times:
    """Return the ends, those before their begins moved to them where that is asked for."""
    wrong = rows.check(
        "end_before_begin",
        ends < begins,
        lambda row: f"ends at {ends[row]}, before it begins at {begins[row]}",
    )
    return np.where(wrong, begins, ends) if wrong.any() else ends


def ends_after(begins: Times, durations: Times, rows: RowFaults) -> Times:
    """Return begins plus durations, treating negative and overflowing ones as faults."""
    wrong = rows.check(
        "end_before_begin",
        durations < 0,
        lambda row: f"has the negative duration {durations[row]}",
    )
    lengths = np.where(wrong | ~rows.keep, 0, durations)
    rows.check(
        "timestamp_out_of_range",
        lengths > INT64_MAX - np.maximum(begins, 0),
        lambda row: (
            f"begins at {begins[row]} and lasts {durations[row]}, which ends beyond a "
            "signed 64-bit integer"
        ),
        repairable=False,
    )
    return begins + np.where(rows.keep, lengths, 0)


def check_promise(promise: Promise, begins: Times, ends: Times, rows: RowFaults) -> None:
    """Compare the rows with what the stream promised about their order."""
    times = ends if promise.by_end else begins
    wrong = np.zeros(len(times), dtype=bool)
    kept = np.flatnonzero(rows.keep)
    broken = promise.broken_rows(times[kept])
    wrong[kept[broken]] = True
    rows.check(
        "broken_order",
        wrong,
        lambda row: (
            f"has the time {times[row]}, lower than one before it, against the promise "
            f"{promise.name!r}"
        ),
    )
