# SPDX-License-Identifier: Apache-2.0
"""Flow events (s, t, f) collected as points and joined into edges between ranges.

Ids are unique for one category of one file only, and are used again; so every edge gets a fresh id.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
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


class Edges:
    """The ends of all edges by the ordinal of their range, in 17 bytes an end.

    Attributes
    ----------
    next_ordinal : int
        The next range that has an end, in ascending order; -1 if there is none.
    """

    def __init__(self) -> None:
        self._ordinals, self._ids, self._arrives = array("q"), array("q"), array("b")
        self._order: npt.NDArray[np.intp] = np.empty(0, np.intp)
        self._next = 0
        self.next_ordinal = -1

    def add(self, source: int, target: int) -> None:
        """Add an edge between two ranges."""
        identifier = len(self._ids) // 2 + 1
        for ordinal, arrives in ((source, 0), (target, 1)):
            self._ordinals.append(ordinal)
            self._ids.append(identifier)
            self._arrives.append(arrives)

    def sort(self) -> None:
        """Make ready to take the ends, from the first range on."""
        self._order = np.argsort(np.array(self._ordinals), kind="stable")
        self._next = 0
        self._advance()

    def take(self) -> Ends:
        """Return the ends of the range ``next_ordinal``, and go on to the next one."""
        ends, ordinal = Ends(), self.next_ordinal
        while self.next_ordinal == ordinal:
            at = int(self._order[self._next])
            (ends.into if self._arrives[at] else ends.out).append(self._ids[at])
            self._next += 1
            self._advance()
        return ends

    def _advance(self) -> None:
        whole = self._next >= len(self._order)
        self.next_ordinal = -1 if whole else self._ordinals[int(self._order[self._next])]


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
        if not len(self):
            return
        groups, ids = np.array(self._groups), np.array(self._ids)
        order = np.lexsort((np.array(self.phases), np.array(self.times), ids, groups))
        changes = (np.diff(groups[order]) != 0) | (np.diff(ids[order]) != 0)
        starts = np.flatnonzero(changes) + 1
        del groups, ids, changes
        first = 0
        for start in (*starts, len(order)):
            yield self._started_first(order[first:start].tolist())
            first = start

    def _started_first(self, points: list[int]) -> list[int]:
        """Put the start of an id that is used once first: clocks of devices may lag behind."""
        starts = [at for at in points if self.phases[at] == START]
        if len(starts) != 1 or points[0] == starts[0]:
            return points
        return [starts[0], *(at for at in points if at != starts[0])]


def tie(points: FlowPoints, bound: npt.NDArray[np.int64], problems: Problems) -> Edges:
    """Return the edges between the ranges that the points are bound to."""
    edges, lost = Edges(), dict.fromkeys(_SENTENCES, 0)
    for chain in points.chains():
        source, used = UNBOUND, True
        for at in chain:
            target, phase = int(bound[at]), points.phases[at]
            if target == UNBOUND:
                lost["flow_outside_ranges"] += 1
                continue
            if phase == START:
                lost["flow_without_end"] += not used
                source, used = target, False
                continue
            if source in (UNBOUND, target):
                lost["flow_without_start" if source == UNBOUND else "flow_within_one_range"] += 1
            else:
                edges.add(source, target)
            used = True
            source = target if phase == STEP else source
        lost["flow_without_end"] += not used
    for kind, number in lost.items():
        if number:
            problems.skip(kind, _SENTENCES[kind], number)
    edges.sort()
    return edges


_SENTENCES = {
    "flow_outside_ranges": "a flow event lies in no range of its thread",
    "flow_without_start": "a flow step or end follows no start of its category and id",
    "flow_within_one_range": "both ends of a flow lie in one range",
    "flow_without_end": "a flow start is followed by no step or end",
}
