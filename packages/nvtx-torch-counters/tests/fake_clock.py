# SPDX-License-Identifier: Apache-2.0
"""A clock that moves when told to, in place of the machine's."""

from __future__ import annotations

import threading
from collections.abc import Callable

MS = 1_000_000


class FakeClock:
    """Monotonic time starts at 1 s, real time at 1,000 s; waiting jumps to the deadline.

    ``late`` gives the lateness in ns of each wait in turn; the last one repeats. After
    ``waits`` waits the gate counts as open, as after a user's ``stop()``.
    """

    def __init__(self) -> None:
        self.now = 1_000 * MS
        self.offset = 999_000 * MS
        self.late = [0]
        self.waits = 10
        self.deadlines: list[int] = []

    def monotonic_ns(self) -> int:
        return self.now

    def realtime_ns(self) -> int:
        return self.now + self.offset

    def cpu_ns(self) -> int:
        return self.now // 100

    def wait(self, gate: threading.Lock, deadline_ns: int) -> bool:
        at = len(self.deadlines)
        self.deadlines.append(deadline_ns)
        if at >= self.waits:
            return True
        late = self.late[min(at, len(self.late) - 1)]
        self.now = max(self.now, deadline_ns + late)
        return gate.acquire(blocking=False)

    def passing(self, *durations: int) -> Callable[[], None]:
        """Return a function whose calls take these ns each in turn; the last one repeats."""
        left = list(durations)

        def take() -> None:
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return take
