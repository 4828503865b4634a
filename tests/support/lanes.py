# SPDX-License-Identifier: Apache-2.0
"""A plain model of how ranges that share a stream nest, and of the lanes that crossings need.

Ranges are taken by begin, the longer first, then in the order they came. Intervals are half-open:
what is empty, such as an instant, lies inside [begin, end) where begin <= t < end. Each goes on
the lane whose innermost open range is the latest-begun one that contains it; where none does, on
the lowest lane with nothing open; where none is free, on a new lane.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Range:
    """What a test writes: a mark where `mark`, else the range [begin, end)."""

    name: str
    begin: int
    end: int
    number: int = 0
    mark: bool = field(default=False)

    def contains(self, other: Range) -> bool:
        """Tell whether the other lies inside this one."""
        if other.begin == other.end:
            return self.begin <= other.begin < self.end
        return self.begin <= other.begin and other.end <= self.end

    def over_at(self, time: int) -> bool:
        """Tell whether nothing that begins at a time can lie inside any more."""
        return self.end <= time


@dataclass(frozen=True)
class Placed:
    """Where the model puts a range."""

    range: Range
    lane: int
    depth: int
    parent: str | None


def place(ranges: Iterable[Range]) -> list[Placed]:
    """Place ranges, given in the order they came, on lanes."""
    lanes: list[list[Range]] = []
    placed = []
    for item in sorted(ranges, key=lambda item: (item.begin, -item.end)):
        for lane in lanes:
            while lane and lane[-1].over_at(item.begin):
                lane.pop()
        number = _lane_for(item, lanes)
        if number == len(lanes):
            lanes.append([])
        lane = lanes[number]
        placed.append(Placed(item, number, len(lane), lane[-1].name if lane else None))
        lane.append(item)
    return placed


def _lane_for(item: Range, lanes: list[list[Range]]) -> int:
    containing = [at for at, lane in enumerate(lanes) if lane and lane[-1].contains(item)]
    if containing:
        return max(containing, key=lambda at: lanes[at][-1].begin)
    free = (at for at, lane in enumerate(lanes) if not lane)
    return next(free, len(lanes))
