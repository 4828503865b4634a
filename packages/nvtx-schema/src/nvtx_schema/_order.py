# SPDX-License-Identifier: Apache-2.0
"""Checks between rows and between columns: ends after begins, times in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from nvtx import EntryKind

from ._column import Array, rows_of
from ._kinds import TIME_ROLES
from .errors import Problem

if TYPE_CHECKING:
    from ._schema import Schema

# NVTX orders a batch by the first timestamp of each event.
_FIRST = (EntryKind.RANGE_BEGIN, *(r for r in TIME_ROLES if r is not EntryKind.RANGE_BEGIN))


def first_time(schema: Schema) -> str | None:
    """Return the name of the field that orders the rows."""
    names = (schema.field_with_role(role) for role in _FIRST)
    return next((name for name in names if name is not None), None)


def end_problems(schema: Schema, ready: Mapping[str, Any]) -> list[Problem]:
    """Return the ranges that end before they begin."""
    begin = ready.get(schema.field_with_role(EntryKind.RANGE_BEGIN) or "")
    name = schema.field_with_role(EntryKind.RANGE_END)
    end = ready.get(name or "")
    if begin is None or end is None or (len(begin) != len(end) and 1 not in (len(begin), len(end))):
        return []
    bad = _below(end, begin)
    if not bad.any():
        return []
    remedy = "correct these rows; an unfinished range needs an end or no row"
    return [Problem(name, "ranges end before they begin", remedy, rows_of(bad))]


def order_problems(schema: Schema, ready: Mapping[str, Any]) -> list[Problem]:
    """Return the rows that come before the row above them."""
    name = first_time(schema)
    times = ready.get(name or "")
    if times is None:
        return []
    rows = np.flatnonzero(times[1:] < times[:-1]) + 1
    if not rows.size:
        return []
    remedy = "sort the table, or pass order='sort' or order='any'"
    return [Problem(name, "rows are earlier than the row above", remedy, tuple(rows.tolist()))]


def sorting(schema: Schema, ready: Mapping[str, Any]) -> Array | None:
    """Return the stable permutation that sorts the rows, None where they are sorted."""
    times = ready.get(first_time(schema) or "")
    if times is None or not (times[1:] < times[:-1]).any():
        return None
    return np.argsort(times, kind="stable")


def _below(left: Array, right: Array) -> Array:
    if left.dtype == right.dtype:
        return np.asarray(left < right)
    # int64 against uint64: NumPy would compare as floats.
    signed = left if left.dtype.kind == "i" else right
    below = left.astype(np.uint64) < right.astype(np.uint64)
    return np.asarray(np.where(signed < 0, left is signed, below))
