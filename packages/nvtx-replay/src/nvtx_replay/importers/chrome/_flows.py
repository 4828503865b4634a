# SPDX-License-Identifier: Apache-2.0
"""Flow events (s, t, f) collected as points and joined into edges between ranges.

Ids are unique for one category of one file only, and are used again; so every edge gets a fresh id.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from nvtx_replay.importers.chrome._binding import UNBOUND
from nvtx_replay.importers.chrome._identity import Row, normal_id
from nvtx_replay.importers.chrome._problems import Problems
from nvtx_replay.importers.chrome._text import as_text

MAX_POINTS = 4_000_000
"""Points beyond this number are counted and left out; one takes about 25 bytes."""

START, STEP, END = range(3)
_PHASES = {"s": START, "t": STEP, "f": END}
_EXACT = 2**63


@dataclass
class Ends:
    """The fresh ids of the edges that leave and reach one range."""

    out: list[int] = field(default_factory=list)
    into: list[int] = field(default_factory=list)


class FlowPoints:
    """All flow points of an input, in compact columns."""

    def __init__(self) -> None:
        self.times, self.rows, self.phases = array("q"), array("i"), array("b")
        self._groups, self._ids = array("i"), array("q")
        self._known_groups: dict[tuple[str, bool], int] = {}
        self._texts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.times)

    def append(self, row: Row, time: int, event: dict[str, Any], problems: Problems) -> None:
        """Add the point of one event."""
        if len(self.times) >= MAX_POINTS:
            problems.skip("flow_beyond_limit", f"more than {MAX_POINTS} flow events")
            return
        if "id" not in event:
            problems.skip("flow_without_id", "a flow event has no 'id'")
            return
        identifier = normal_id(event["id"])
        is_text = not (type(identifier) is int and -_EXACT <= identifier < _EXACT)
        if is_text:
            identifier = self._texts.setdefault(str(identifier), len(self._texts))
        group = as_text(event.get("cat", "")), is_text
        self.times.append(time)
        self.rows.append(row.index)
        self.phases.append(_PHASES[event["ph"]])
        self._groups.append(self._known_groups.setdefault(group, len(self._known_groups)))
        self._ids.append(identifier)  # type: ignore[arg-type]

    def chains(self) -> Iterator[list[int]]:
        """Yield the points of each (category, id), in the order in which they follow each other."""
        columns = np.array(self._groups), np.array(self._ids), np.array(self.times)
        if not len(self):
            return
        groups, ids, times = columns
        order = np.lexsort((np.array(self.phases), times, ids, groups)).tolist()
        keys = self._groups, self._ids
        for _, points in groupby(order, key=lambda at: (keys[0][at], keys[1][at])):
            yield self._started_first(list(points))

    def _started_first(self, points: list[int]) -> list[int]:
        """Put the start of an id that is used once first: clocks of devices may lag behind."""
        starts = [at for at in points if self.phases[at] == START]
        if len(starts) != 1 or points[0] == starts[0]:
            return points
        return [starts[0], *(at for at in points if at != starts[0])]


def edges(points: FlowPoints, bound: npt.NDArray[np.int64], problems: Problems) -> dict[int, Ends]:
    """Return the edges' ends by ordinal of the range they are bound to."""
    ends: dict[int, Ends] = {}
    fresh = count(1)
    lost = {"flow_outside_ranges": 0, "flow_without_start": 0, "flow_within_one_range": 0}
    unused_starts = 0
    for chain in points.chains():
        source, used = UNBOUND, True
        for at in chain:
            target, phase = int(bound[at]), points.phases[at]
            if target == UNBOUND:
                lost["flow_outside_ranges"] += 1
                continue
            if phase == START:
                unused_starts += not used
                source, used = target, False
                continue
            if source in (UNBOUND, target):
                lost["flow_without_start" if source == UNBOUND else "flow_within_one_range"] += 1
            else:
                identifier = next(fresh)
                ends.setdefault(source, Ends()).out.append(identifier)
                ends.setdefault(target, Ends()).into.append(identifier)
            used = True
            source = target if phase == STEP else source
        unused_starts += not used
    lost["flow_without_end"] = unused_starts
    for kind, number in lost.items():
        if number:
            problems.skip(kind, _SENTENCES[kind], number)
    return ends


_SENTENCES = {
    "flow_outside_ranges": "a flow event lies in no range of its thread",
    "flow_without_start": "a flow step or end follows no start of its category and id",
    "flow_within_one_range": "both ends of a flow lie in one range",
    "flow_without_end": "a flow start is followed by no step or end",
}
