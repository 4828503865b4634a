# SPDX-License-Identifier: Apache-2.0
"""Which range encloses a flow point: the innermost one of its row at its time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nvtx_replay.importers.chrome._ranges import PYTHON_STACK, RangeArray, RangeSpool

UNBOUND = -1

_Best = tuple[bool, int, int, int]
"""Of two ranges around a point the greater is the inner one: (annotation, begin, -end, ordinal)."""


def bind(times: Sequence[int], rows: Sequence[int], spool: RangeSpool) -> npt.NDArray[np.int64]:
    """Return, for each point, the ordinal of the innermost range around it, or ``UNBOUND``.

    Annotations come before Python functions, whatever their depth, since flows tie operators.
    Ranges are half-open, and one of no length holds the points at its begin.
    """
    best: list[_Best | None] = [None] * len(times)
    by_row = _points_by_row(times, rows)
    first = 0
    for chunk in spool.chunks():
        relevant = np.flatnonzero(np.isin(chunk["row"], list(by_row)))
        for is_python in (False, True):
            chosen = relevant[(chunk["lane"][relevant] == PYTHON_STACK) == is_python]
            _bind_lane(chunk, chosen, first, (by_row, times, best))
        first += len(chunk)
    return np.array([UNBOUND if found is None else found[3] for found in best], np.int64)


def _points_by_row(times: Sequence[int], rows: Sequence[int]) -> dict[int, list[int]]:
    by_row: dict[int, list[int]] = {}
    for at in np.argsort(np.asarray(times, np.int64), kind="stable").tolist():
        by_row.setdefault(rows[at], []).append(at)
    return by_row


def _bind_lane(
    chunk: RangeArray,
    chosen: npt.NDArray[np.intp],
    first: int,
    state: tuple[dict[int, list[int]], Sequence[int], list[_Best | None]],
) -> None:
    by_row, times, best = state
    part = chunk[chosen]
    order = np.lexsort((chosen, -part["end"], part["begin"], part["row"]))
    rows, starts = np.unique(part["row"][order], return_index=True)
    for row, members in zip(rows.tolist(), np.split(order, starts[1:]), strict=False):
        ranges = part[members].tolist()
        ordinals = (chosen[members] + first).tolist()
        _sweep(list(zip(ranges, ordinals, strict=True)), by_row[row], times, best)


def _sweep(
    ranges: list[tuple[tuple[int, int, int, int], int]],
    points: list[int],
    times: Sequence[int],
    best: list[_Best | None],
) -> None:
    """Visit points and ranges of one row in time order; the open ranges' top is the innermost.

    Ranges that ended are taken off the top only, which is enough: the topmost that lives is the one
    that began last, whether ranges cross or not.
    """
    live: list[_Best] = []
    upcoming = 0
    for at in points:
        time = times[at]
        while upcoming < len(ranges) and ranges[upcoming][0][0] <= time:
            (begin, end, _, lane), ordinal = ranges[upcoming]
            live.append((lane != PYTHON_STACK, begin, -max(end, begin + 1), ordinal))
            upcoming += 1
        while live and -live[-1][2] <= time:
            live.pop()
        if live and (best[at] is None or live[-1] > best[at]):  # type: ignore[operator]
            best[at] = live[-1]
