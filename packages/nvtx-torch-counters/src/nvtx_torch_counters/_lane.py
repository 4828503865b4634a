# SPDX-License-Identifier: Apache-2.0
"""A lane: tasks that run together on one absolute schedule, in a thread of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ._clock import Clock
from ._lateness import Lateness

#: After so many ticks, what can wait is done: a tick finds the caches cold.
_SETTLE_EVERY = 64


class Lane:
    """Tasks that fall due every `interval_ns`, counted from when the lane begins.

    The schedule is absolute: due times are whole multiples of the interval from `origin_ns` on. A
    tick that comes too late runs once, and the due times that passed meanwhile are counted as
    missed and not caught up with.
    """

    def __init__(
        self, name: str, interval_ns: int, tasks: Sequence[Callable[[], object]], clock: Clock
    ) -> None:
        self.name = name
        self.interval_ns = interval_ns
        self.tasks = list(tasks)
        self.origin_ns = clock.monotonic_ns()
        self.ticks = self.missed = self.cpu_ns = 0
        self.lateness = Lateness()
        self._clock = clock
        self._gate = threading.Lock()  # locked while the lane may run
        self._gate.acquire()
        self._stopped = False
        self._thread: threading.Thread | None = None

    @property
    def started(self) -> bool:
        """Whether the thread was started."""
        return self._thread is not None

    def add(self, task: Callable[[], object]) -> None:
        """Add a task, also while the lane runs: it takes part from the next tick."""
        self.tasks = [*self.tasks, task]

    def start(self) -> None:
        """Run from now on in a daemon thread, so that no exit waits for it."""
        thread = threading.Thread(target=self.run, name=self.name, daemon=True)
        self._thread = thread
        thread.start()

    def stop(self) -> None:
        """Ask the lane to end after the tick it is in; does not wait."""
        if not self._stopped:
            self._stopped = True
            self._gate.release()

    def join(self, timeout: float) -> bool:
        """Wait for the lane to end, at most `timeout` seconds; return whether it has."""
        if self._thread is None or self._thread is threading.current_thread():
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def run(self) -> None:
        """Run the tasks at the due times after now, until stopped."""
        clock, interval = self._clock, self.interval_ns
        now, note = clock.monotonic_ns, self.lateness.note
        cpu = clock.cpu_ns()
        due = self.origin_ns + ((now() - self.origin_ns) // interval + 1) * interval
        while not clock.wait(self._gate, due):
            late = now() - due
            if late < 0:  # a wait may end early; the rest of it is waited for
                continue
            self.ticks += 1
            note(late)
            for task in self.tasks:
                task()
            passed = (now() - due) // interval
            self.missed += passed
            due += (passed + 1) * interval
            if self.ticks % _SETTLE_EVERY == 0:
                self.lateness.settle()
                self.cpu_ns = clock.cpu_ns() - cpu
        self.cpu_ns = clock.cpu_ns() - cpu
