# SPDX-License-Identifier: Apache-2.0
"""Which range encloses a flow point: the innermost one of its row at its time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from nvtx_replay.importers.chrome._ranges import PYTHON_STACK, RangeArray, RangeSpool

UNBOUND = -1

Ints = npt.NDArray[np.int64]

# Of two ranges around a point the greater is the inner one.
_INNER = np.dtype(
    [("annotation", np.int8), ("begin", np.int64), ("end", np.int64), ("ordinal", np.int64)]
)
_Inner = tuple[int, int, int, int]


def bind(times: Sequence[int], rows: Sequence[int], spool: RangeSpool) -> Ints:
    """Return, for each point, the ordinal of the innermost range around it, or ``UNBOUND``.

    Annotations come before Python functions, whatever their depth, since flows tie operators.
    Ranges are half-open, and one of no length holds the points at its begin.
    """
    binding = _Binding(np.asarray(times, np.int64), np.asarray(rows, np.int32))
    first = 0
    for chunk in spool.chunks():
        binding.add(chunk, first)
        first += len(chunk)
    return binding.ordinals()


class _Binding:
    """The innermost range found so far for each point, in 25 bytes a point."""

    def __init__(self, times: Ints, rows: npt.NDArray[np.int32]) -> None:
        self._order = np.lexsort((times, rows))
        self._times = times[self._order]
        found, starts = np.unique(rows[self._order], return_index=True)
        bounds = [*starts.tolist(), len(rows)]
        self._rows = dict(zip(found.tolist(), pairwise(bounds), strict=True))
        self._best = np.zeros(len(rows), _INNER)
        self._best["ordinal"] = UNBOUND
        self._best["annotation"] = -1

    def ordinals(self) -> Ints:
        """Return the result in the order in which the points were given."""
        result = np.empty(len(self._order), np.int64)
        result[self._order] = self._best["ordinal"]
        return result

    def add(self, chunk: RangeArray, first: int) -> None:
        """Look at some ranges, the first of which has the ordinal ``first``."""
        relevant = np.flatnonzero(np.isin(chunk["row"], list(self._rows)))
        for is_python in (False, True):
            chosen = relevant[(chunk["lane"][relevant] == PYTHON_STACK) == is_python]
            part = chunk[chosen]
            order = np.lexsort((chosen, -part["end"], part["begin"], part["row"]))
            rows, starts = np.unique(part["row"][order], return_index=True)
            for row, members in zip(rows.tolist(), np.split(order, starts[1:]), strict=False):
                self._add_lane(row, part[members], chosen[members] + first)

    def _add_lane(self, row: int, ranges: RangeArray, ordinals: npt.NDArray[np.intp]) -> None:
        """Look at ranges of one row, sorted by begin, longest first."""
        low, high = self._rows[row]
        times = self._times[low:high]
        # Only the points that these ranges can hold are visited.
        start = low + int(np.searchsorted(times, ranges["begin"].min()))
        stop = low + int(np.searchsorted(times, ranges["end"].max(), side="right"))
        if start >= stop:
            return
        annotation = int(ranges["lane"][0] != PYTHON_STACK)
        ends = np.maximum(ranges["end"], ranges["begin"] + 1)
        columns = zip(ranges["begin"].tolist(), ends.tolist(), ordinals.tolist(), strict=True)
        inner = [(annotation, begin, -end, ordinal) for begin, end, ordinal in columns]
        for at, found in _innermost(inner, self._times[start:stop].tolist()):
            if found > self._best[start + at].item():
                self._best[start + at] = found


def _innermost(ranges: list[_Inner], times: list[int]) -> list[tuple[int, _Inner]]:
    """Visit points and ranges in time order; the open ranges' top is the innermost.

    Ranges that ended are taken off the top only, which is enough: the topmost that lives is the one
    that began last, whether ranges cross or not.
    """
    found: list[tuple[int, _Inner]] = []
    live: list[_Inner] = []
    upcoming = 0
    for at, time in enumerate(times):
        while upcoming < len(ranges) and ranges[upcoming][1] <= time:
            live.append(ranges[upcoming])
            upcoming += 1
        while live and -live[-1][2] <= time:
            live.pop()
        if live:
            found.append((at, live[-1]))
    return found
