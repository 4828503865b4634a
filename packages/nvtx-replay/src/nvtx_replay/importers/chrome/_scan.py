# SPDX-License-Identifier: Apache-2.0
"""The first pass: everything that must be known before the first event can be written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from nvtx_replay.importers.chrome._binding import bind
from nvtx_replay.importers.chrome._clipping import clipped_ends
from nvtx_replay.importers.chrome._flows import Edges, FlowPoints, tie
from nvtx_replay.importers.chrome._identity import Id, Identities, Row
from nvtx_replay.importers.chrome._problems import Problems
from nvtx_replay.importers.chrome._ranges import ANNOTATIONS, PYTHON_STACK, RangeSpool
from nvtx_replay.importers.chrome._samples import Series, Value
from nvtx_replay.importers.chrome._text import as_text
from nvtx_replay.importers.chrome._walk import TIME_LIMIT

_JsonEvent = dict[str, Any]


def lane_of(event: _JsonEvent) -> int:
    """Return which of its row's two streams a range belongs to."""
    return PYTHON_STACK if event.get("cat") == "python_function" else ANNOTATIONS


@dataclass
class Extent:
    """The first and last time met, relative, in nanoseconds; reversed while none was."""

    first: int = TIME_LIMIT
    last: int = -TIME_LIMIT

    def add(self, begin: int, end: int) -> None:
        """Widen the extent."""
        self.first = min(self.first, begin)
        self.last = max(self.last, end)

    @property
    def span(self) -> int | None:
        """Nanoseconds from first to last, or None if there was no time."""
        return None if self.first > self.last else self.last - self.first


@dataclass
class Scan:
    """What the first pass gathers; a :class:`~nvtx_replay.importers.chrome._walk.Visitor`.

    Attributes
    ----------
    float_series : dict
        Whether a counter needs floating point, by series.
    edges : Edges
        The flows, once `finish` has run.
    clipped : dict
        New ends by ordinal of the range, once `finish` has run.
    """

    identities: Identities
    problems: Problems
    extent: Extent = field(default_factory=Extent)
    phases: Counter[str] = field(default_factory=Counter)
    used_rows: dict[int, Row] = field(default_factory=dict)
    float_series: dict[Series, bool] = field(default_factory=dict)
    ranges: RangeSpool = field(default_factory=RangeSpool)
    points: FlowPoints = field(default_factory=FlowPoints)
    edges: Edges = field(default_factory=Edges)
    clipped: dict[int, int] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Return how many events of each kind there are."""
        ranges = {"range": len(self.ranges)} if len(self.ranges) else {}
        return dict(sorted({**self.phases, **ranges}.items()))

    def finish(self, clip: int) -> None:
        """Tie flows to ranges and, with ``clip`` in ns, find the ends to be cut back."""
        if len(self.points):
            bound = bind(self.points.times, self.points.rows, self.ranges)
            self.edges = tie(self.points, bound, self.problems)
            self.points = FlowPoints()
        self.clipped = clipped_ends(self.ranges, clip)
        if self.clipped:
            sentence = f"a range outlived its parent by at most {clip} ns; cut back as asked"
            self.problems.report.repair("clipped", len(self.clipped), sentence)

    def metadata(self, event: _JsonEvent) -> None:
        """Take names, labels and sort indices; the last one of several counts."""
        self.phases["M"] += 1
        args = event.get("args")
        if not isinstance(args, dict):
            return
        name, pid, tid = event.get("name"), event.get("pid"), event.get("tid")
        if name == "process_name" and args.get("name"):
            self.identities.process(pid).name = as_text(args["name"])
        elif name == "process_labels" and args.get("labels"):
            self.identities.process(pid).labels = as_text(args["labels"])
        elif name == "thread_name" and args.get("name"):
            self.identities.thread(pid, tid).name = as_text(args["name"])
        elif name in ("process_sort_index", "thread_sort_index"):
            index = args.get("sort_index")
            owner = self.identities.process(pid) if name.startswith("p") else None
            owner = owner or self.identities.thread(pid, tid)
            owner.sort_index = index if type(index) is int else 0

    def slice(self, row: Row, begin: int, end: int | None, event: _JsonEvent) -> None:
        """Remember the range's bounds."""
        self.used_rows[row.index] = row
        self.extent.add(begin, begin if end is None else end)
        self.ranges.append(row.index, lane_of(event), begin, end)

    def instant(self, row: Row, time: int, _event: _JsonEvent) -> None:
        """Remember the row and the time."""
        self.phases["instant"] += 1
        self.used_rows[row.index] = row
        self.extent.add(time, time)

    def wide_instant(self, _pid: Id, time: int, _event: _JsonEvent) -> None:
        """Remember the time."""
        self.phases["instant"] += 1
        self.extent.add(time, time)

    def sample(self, series: Series, time: int, value: Value) -> None:
        """Remember whether the series needs floating point."""
        self.phases["sample"] += 1
        self.extent.add(time, time)
        known = self.float_series.get(series, False)
        self.float_series[series] = known or isinstance(value, float)

    def flow(self, row: Row, time: int, event: _JsonEvent) -> None:
        """Remember the point; its time needs no place on the timeline."""
        self.phases["flow"] += 1
        self.points.append(row, time, event, self.problems)

    def async_range(self, _pid: Id, begin: int, end: int | None, _event: _JsonEvent) -> None:
        """Remember the times."""
        self.phases["async range"] += 1
        self.extent.add(begin, begin if end is None else end)

    def async_instant(self, _pid: Id, time: int, _event: _JsonEvent) -> None:
        """Remember the time."""
        self.phases["async instant"] += 1
        self.extent.add(time, time)
