# SPDX-License-Identifier: Apache-2.0
"""The lanes of one run of a sampler: one an interval, and one for upkeep."""

from __future__ import annotations

import time
from collections.abc import Callable

from ._clock import Clock
from ._lane import Lane

_UPKEEP_NS = 250_000_000


class Lanes:
    """Puts tasks on lanes by their interval, and starts and ends the lanes together."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_interval: dict[int, Lane] = {}
        self._upkeep: Lane | None = None

    def all(self) -> list[Lane]:
        """Return every lane, that of upkeep last."""
        return [*self._by_interval.values(), *([self._upkeep] if self._upkeep else [])]

    def put(self, interval_ns: int, task: Callable[[], object]) -> None:
        """Run a task at an interval: from the start, or once started from the next tick on."""
        lane = self._by_interval.get(interval_ns)
        if lane is not None:
            lane.add(task)
            return
        name = f"nvtx-counters {interval_ns / 1e6:g} ms"
        lane = self._by_interval[interval_ns] = Lane(name, interval_ns, [task], self._clock)
        if self._upkeep is not None:
            lane.start()

    def start(self, upkeep: Callable[[], object]) -> None:
        """Start all lanes, and one more that does the upkeep four times a second."""
        for lane in self.all():
            lane.start()
        self._upkeep = Lane("nvtx-counters upkeep", _UPKEEP_NS, [upkeep], self._clock)
        self._upkeep.start()

    def end(self, timeout: float) -> None:
        """End all lanes; wait at most `timeout` seconds in all for those in a tick."""
        lanes = self.all()
        for lane in lanes:
            lane.stop()
        deadline = time.monotonic() + timeout
        for lane in lanes:
            lane.join(max(0.0, deadline - time.monotonic()))
