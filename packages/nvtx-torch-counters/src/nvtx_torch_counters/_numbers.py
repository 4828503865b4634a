# SPDX-License-Identifier: Apache-2.0
"""Numbers that keep the counters of samplers that run at once apart."""

from __future__ import annotations

import os
import threading


class Numbers:
    """Hands out the smallest positive number that nobody holds; a forked child starts anew."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._held: set[int] = set()

    def take(self) -> int:
        """Return a free number, which the caller now holds."""
        with self._lock:
            number = next(n for n in range(1, len(self._held) + 2) if n not in self._held)
            self._held.add(number)
            return number

    def give_back(self, number: int) -> None:
        """Make a number free again."""
        with self._lock:
            self._held.discard(number)


NUMBERS = Numbers()


def numbered(name: str, number: int) -> str:
    """Return the counter name of a sampler's number: the first keeps the plain name."""
    return name if number == 1 else f"{name}#{number}"
