# SPDX-License-Identifier: Apache-2.0
"""Ranges that were begun and not ended yet, in the order of the calls."""

from __future__ import annotations

from nvtx_replay._faults import Faults

_NAMED = 5  # how many open ranges an error names


class OpenRanges:
    """Pairs the halves of one stream's ranges.

    Pushes and pops pair per scope, last in first out, in the order in which they are written;
    starts and ends pair by id.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._stacks: dict[int, list[tuple[int, str]]] = {}
        self._by_id: dict[int, tuple[int, str]] = {}
        self.last_time: int | None = None

    def push(self, time: int, what: str, scope: int = 0) -> None:
        """Note a push."""
        self._seen(time)
        self._stacks.setdefault(scope, []).append((time, what))

    def pop(self, time: int, scope: int = 0) -> int | None:
        """Return the time at which to pop, or None if there is nothing to pop."""
        stack = self._stacks.get(scope)
        if not stack:
            self._faults.event(
                "unmatched_pop", f"pop at {time} without an open range", repairable=False
            )
            return None
        begin, what = stack[-1]
        end = self._not_before(begin, time, what)
        stack.pop()
        return end

    def start(self, time: int, range_id: int, what: str) -> bool:
        """Note a start; say whether it may be written."""
        if range_id in self._by_id:
            self._faults.event(
                "duplicate_range_id",
                f"start at {time} uses range id {range_id}, which is still open",
                repairable=False,
            )
            return False
        self._seen(time)
        self._by_id[range_id] = (time, what)
        return True

    def end(self, time: int, range_id: int) -> int | None:
        """Return the time at which to end a range, or None if it is not open."""
        if range_id not in self._by_id:
            self._faults.event(
                "unmatched_end",
                f"end at {time} of range id {range_id}, which is not open",
                repairable=False,
            )
            return None
        begin, what = self._by_id[range_id]
        end = self._not_before(begin, time, what)
        del self._by_id[range_id]
        return end

    def _not_before(self, begin: int, end: int, what: str) -> int:
        self._seen(end)
        if end >= begin:
            return end
        sentence = f"range {what!r} ends at {end}, {begin - end} before it begins at {begin}"
        if not self._faults.event("end_before_begin", sentence):
            # Its begin is written already, so that leaving the end out would lose more.
            return begin
        return begin

    def _seen(self, time: int) -> None:
        self.last_time = time if self.last_time is None else max(time, self.last_time)

    @property
    def count(self) -> int:
        """How many ranges are open."""
        return len(self._by_id) + sum(len(stack) for stack in self._stacks.values())

    def describe(self) -> str:
        """Name the open ranges, outermost first, at most five of them."""
        ranges = [entry for stack in self._stacks.values() for entry in stack]
        ranges += self._by_id.values()
        told = ", ".join(f"{what!r} since {time}" for time, what in ranges[:_NAMED])
        rest = len(ranges) - _NAMED
        return told + (f" and {rest} more" if rest > 0 else "")

    def drain(self) -> tuple[list[int], list[int]]:
        """Forget all; return the scopes to pop, once a range, and the ids to end."""
        scopes = [scope for scope, stack in self._stacks.items() for _ in stack]
        ids = list(self._by_id)
        self._stacks.clear()
        self._by_id.clear()
        return scopes, ids
