# SPDX-License-Identifier: Apache-2.0
"""How late the ticks of a schedule came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

_MOST_NS = (1 << 47) - 1


class Lateness:
    """Counts by upper bounds that lie an eighth apart, and the greatest lateness.

    Below 16 ns every value has a bucket of its own; from there on, each power of two is cut
    into eight::

        latenesses    0 | 1 | ... | 15 | 16 17 | 18 19 | ... | 30 31 | 32 33 34 35 | ...
        bucket        0 | 1 | ... | 15 |    16 |    17 | ... |    23 |          24 | ...
    """

    def __init__(self) -> None:
        self._latest_ns = 0
        self._counts = [0] * (_bucket(_MOST_NS) + 1)
        self._noted: deque[int] = deque()
        self._lock = threading.Lock()
        #: Takes the lateness of a tick in ns; to be counted when `settle` is called.
        self.note: Callable[[int], None] = self._noted.append

    def settle(self) -> None:
        """Count what was noted; any thread may call it."""
        with self._lock:
            for _ in range(len(self._noted)):
                late = self._noted.popleft()
                self._latest_ns = max(self._latest_ns, late)
                self._counts[_bucket(min(late, _MOST_NS))] += 1

    @property
    def latest_ns(self) -> int:
        """The greatest lateness."""
        self.settle()
        return self._latest_ns

    def counts(self) -> dict[int, int]:
        """Return upper bound in ns, exclusive, to the number of ticks in the bucket below it."""
        self.settle()
        return {_bound(at): count for at, count in enumerate(self._counts) if count}


def _bucket(late_ns: int) -> int:
    shift = max(0, late_ns.bit_length() - 4)
    return 8 * shift + (late_ns >> shift)


def _bound(bucket: int) -> int:
    shift = max(0, bucket // 8 - 1)
    return (bucket - 8 * shift + 1) << shift
