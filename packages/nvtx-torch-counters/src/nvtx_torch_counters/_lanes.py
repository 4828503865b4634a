# SPDX-License-Identifier: Apache-2.0
"""The lanes of one run of a sampler: one an interval, and one for upkeep."""

from __future__ import annotations

import time
from collections.abc import Callable

from ._clock import Clock
from ._lane import Lane

_UPKEEP_NS = 250_000_000


class Lanes:
    """Puts tasks on lanes by their interval, and starts and ends the lanes together.

    The lane of the sampler's own interval is due at multiples of it, every other half an interval
    off: threads that are due at once wait for each other's turn at the interpreter lock, and the
    slow lanes' intervals are mostly multiples of the fast one.

    Parameters
    ----------
    clock : Clock
        What the lanes go by.
    interval_ns : int
        The sampler's interval.
    """

    def __init__(self, clock: Clock, interval_ns: int) -> None:
        self._clock = clock
        self._interval_ns = interval_ns
        self._started_ns = 0
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
            self._start(lane)

    def start(self, upkeep: Callable[[], object]) -> None:
        """Start all lanes, and one more that does the upkeep four times a second."""
        self._started_ns = self._clock.monotonic_ns()
        for lane in self.all():
            self._start(lane)
        self._upkeep = Lane("nvtx-counters upkeep", _UPKEEP_NS, [upkeep], self._clock)
        self._start(self._upkeep)

    def _start(self, lane: Lane) -> None:
        own = self._interval_ns
        aside = 0 if lane is self._by_interval.get(own) else min(lane.interval_ns, own) // 2
        lane.origin_ns = self._started_ns + aside
        lane.start()

    def end(self, timeout: float) -> None:
        """End all lanes; wait at most `timeout` seconds in all for those in a tick."""
        lanes = self.all()
        for lane in lanes:
            lane.stop()
        deadline = time.monotonic() + timeout
        for lane in lanes:
            lane.join(max(0.0, deadline - time.monotonic()))
