# SPDX-License-Identifier: Apache-2.0
"""Single events of a stream, checked before they reach the backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nvtx.writer import StreamOrdering, WriterError

from nvtx_replay._backend import RawSession
from nvtx_replay._clock import INT64_MAX, INT64_MIN, exact_time
from nvtx_replay._counter_table import CounterBook
from nvtx_replay._faults import Faults
from nvtx_replay._open_ranges import OpenRanges
from nvtx_replay._ordering import Promise
from nvtx_replay._strings import StringStore


@dataclass(frozen=True)
class StreamSetup:
    """What a session gives to each of its streams."""

    raw: Any
    opened: RawSession
    domain: Any
    faults: Faults
    strings: StringStore
    counters: CounterBook
    ordering: StreamOrdering
    dates: bool  # whether timestamps count from the Unix epoch, so that dates may stand for them


class SingleEvents:
    """The part of a stream that writes one event a call."""

    def __init__(self, setup: StreamSetup) -> None:
        self._raw = setup.raw
        self._opened = setup.opened
        self._domain = setup.domain
        self._faults = setup.faults
        self._strings = setup.strings
        self._promise = Promise(setup.ordering, setup.faults)
        self._open = OpenRanges(setup.faults)
        self._is_open = False

    def write_mark(
        self, timestamp: int, *, message: Any = None, color: Any = None, category: Any = None
    ) -> None:
        """Write a mark, as ``nvtx.writer.Stream.write_mark`` does.

        Raises
        ------
        RowError
            If the timestamp is a float, NaN or beyond int64, or breaks the stream's order.
        BackendError
            If the backend refuses the event; the message holds its reason where it gives one.
        """
        time = exact_time(timestamp, self._faults)
        if time is not None and self._promise.keeps(time):
            self._call(self._raw.write_mark, time, message=message, color=color, category=category)

    def write_pushpop(
        self,
        start: int,
        end: int,
        *,
        message: Any = None,
        color: Any = None,
        category: Any = None,
    ) -> None:
        """Write a complete, nested range, as ``nvtx.writer.Stream.write_pushpop`` does.

        Raises
        ------
        RowError
            As in :meth:`write_mark`, or if the range ends before it begins.
        """
        span = self._span(start, end, message)
        if span is not None:
            self._call(
                self._raw.write_pushpop, *span, message=message, color=color, category=category
            )

    def write_startend(
        self,
        start: int,
        end: int,
        *,
        message: Any = None,
        color: Any = None,
        category: Any = None,
    ) -> None:
        """Write a complete range that may cross others; see :meth:`write_pushpop`."""
        span = self._span(start, end, message)
        if span is not None:
            self._call(
                self._raw.write_startend, *span, message=message, color=color, category=category
            )

    def write_push(
        self, timestamp: int, *, message: Any = None, color: Any = None, category: Any = None
    ) -> None:
        """Write the begin of a nested range; pops close ranges in the order of the calls."""
        time = exact_time(timestamp, self._faults)
        if time is not None and self._promise.keeps(time):
            self._call(self._raw.write_push, time, message=message, color=color, category=category)
            self._open.push(time, _label(message))

    def write_pop(self, timestamp: int) -> None:
        """Write the end of the most recently pushed range.

        Raises
        ------
        RowError
            If no range is open, or the innermost one begins later. Its begin being written
            already, ``on_error`` other than ``"raise"`` ends such a range where it begins.
        """
        time = exact_time(timestamp, self._faults)
        time = None if time is None else self._open.pop(time)
        if time is not None and self._promise.keeps(time):
            self._call(self._raw.write_pop, time)

    def write_start(
        self,
        timestamp: int,
        range_id: int,
        *,
        message: Any = None,
        color: Any = None,
        category: Any = None,
    ) -> None:
        """Write the begin of a range that :meth:`write_end` ends by the same id.

        Raises
        ------
        RowError
            As in :meth:`write_mark`, or if a range of that id is open.
        """
        time = exact_time(timestamp, self._faults)
        if time is None or not self._promise.keeps(time):
            return
        if self._open.start(time, range_id, _label(message)):
            self._call(
                self._raw.write_start,
                time,
                range_id,
                message=message,
                color=color,
                category=category,
            )

    def write_end(self, timestamp: int, range_id: int) -> None:
        """Write the end of the range that :meth:`write_start` began with that id."""
        time = exact_time(timestamp, self._faults)
        time = None if time is None else self._open.end(time, range_id)
        if time is not None and self._promise.keeps(time):
            self._call(self._raw.write_end, time, range_id)

    def _call(self, write: Callable[..., None], *arguments: Any, **attributes: Any) -> None:
        try:
            write(*arguments, **attributes)
        except WriterError as error:
            raise self._opened.explain(error) from error

    def _span(self, start: Any, end: Any, message: Any) -> tuple[int, int] | None:
        """Return a complete range's times, or None if it is to be skipped."""
        if (
            type(start) is type(end) is int
            and INT64_MIN <= start <= end <= INT64_MAX
            and not self._promise.active
        ):
            return start, end  # by far the most, and checking costs more than writing
        begin = exact_time(start, self._faults)
        finish = None if begin is None else exact_time(end, self._faults)
        if begin is None or finish is None:
            return None
        if finish < begin:
            what = f"range {_label(message)!r} ends at {finish}, before it begins at {begin}"
            if not self._faults.event("end_before_begin", what):
                return None
            finish = begin
        return (begin, finish) if self._promise.keeps(begin, finish) else None


def _label(message: Any) -> str:
    if message is None:
        return ""
    if isinstance(message, bytes):
        return message.decode("utf-8", "replace")
    return message if isinstance(message, str) else repr(message)
