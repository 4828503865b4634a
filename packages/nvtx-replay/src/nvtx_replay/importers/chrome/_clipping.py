# SPDX-License-Identifier: Apache-2.0
"""Ends cut back, on request, where ranges of one row cross by a rounding error."""

from __future__ import annotations

import numpy as np

from nvtx_replay.importers.chrome._ranges import RangeArray, RangeSpool


def clipped_ends(spool: RangeSpool, tolerance: int) -> dict[int, int]:
    """Return new ends by ordinal for ranges that outlive their parent by at most ``tolerance`` ns.

    Unlike the rest of an import this holds all ranges in memory at once, 40 bytes each.
    """
    if tolerance <= 0 or not len(spool):
        return {}
    chunks = list(spool.chunks())
    ranges = np.concatenate(chunks)
    order = np.lexsort((-ranges["end"], ranges["begin"], ranges["lane"], ranges["row"]))
    cuts: dict[int, int] = {}
    open_ends: list[int] = []
    place: tuple[int, int] | None = None
    for ordinal, (begin, end, row, lane) in zip(
        order.tolist(), _tuples(ranges, order), strict=True
    ):
        if (row, lane) != place:
            place, open_ends = (row, lane), []
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and 0 < end - open_ends[-1] <= tolerance:
            end = cuts[ordinal] = open_ends[-1]
        open_ends.append(end)
    return cuts


def _tuples(ranges: RangeArray, order: np.ndarray) -> list[tuple[int, int, int, int]]:
    rows: list[tuple[int, int, int, int]] = ranges[order].tolist()
    return rows
