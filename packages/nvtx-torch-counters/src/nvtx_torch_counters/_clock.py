# SPDX-License-Identifier: Apache-2.0
"""The clocks of this process, and how monotonic time is tied to real time."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

#: Two readings of the pair that differ by more are a step of the real-time clock. Both
#: clocks are slewed alike, so that only a step can move one against the other.
STEP_NS = 1_000_000

_PAIR_ATTEMPTS = 5

#: The longest wait that is slept through; a stop waits for it.
_NAP_NS = 20_000_000


class Clock:
    """Monotonic and real time in nanoseconds, and waiting; tests replace it."""

    #: ``CLOCK_MONOTONIC``.
    monotonic_ns = staticmethod(time.monotonic_ns)
    #: ``CLOCK_REALTIME``: nanoseconds since 1970.
    realtime_ns = staticmethod(time.time_ns)
    #: The CPU time that the calling thread has used.
    cpu_ns = staticmethod(time.thread_time_ns)

    def wait(self, gate: threading.Lock, deadline_ns: int) -> bool:
        """Wait until `deadline_ns` (monotonic) or until `gate` opens; return whether it did.

        A short wait does not look at the gate before its end: sleeping is the cheapest and most
        punctual way to wait, and cannot be woken.
        """
        left = deadline_ns - time.monotonic_ns()
        if left > _NAP_NS:
            return gate.acquire(timeout=left / 1e9)
        if left > 0:
            time.sleep(left / 1e9)
        return not gate.locked()


def read_pair(clock: Clock) -> tuple[int, int]:
    """Return (offset, error) in ns so that realtime = monotonic + offset, give or take error.

    The tightest of a few readings is kept: a thread switch between two of them
    widens one window, seldom all.
    """
    best = (0, 1 << 62)
    for _ in range(_PAIR_ATTEMPTS):
        before = clock.monotonic_ns()
        real = clock.realtime_ns()
        after = clock.monotonic_ns()
        error = (after - before + 1) // 2
        if error < best[1]:
            best = (real - (before + after) // 2, error)
    return best


@dataclass
class RealtimeTie:
    """The offset from monotonic to real time, read once, and the steps seen since.

    Timestamps of one sampler stay on one scale even if the machine's clock is set
    meanwhile: the offset of the start is used for all of them, and a step is counted.
    """

    offset_ns: int
    error_ns: int
    steps: int = 0
    largest_step_ns: int = 0
    _last_ns: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._last_ns = self.offset_ns

    @classmethod
    def read(cls, clock: Clock) -> RealtimeTie:
        """Tie the two clocks of `clock` now."""
        return cls(*read_pair(clock))

    def check(self, clock: Clock) -> None:
        """Count a step when the offset has moved since the last check."""
        offset, error = read_pair(clock)
        moved = offset - self._last_ns
        if abs(moved) > STEP_NS + error:
            self.steps += 1
            self.largest_step_ns = max(self.largest_step_ns, moved, key=abs)
            self._last_ns = offset
