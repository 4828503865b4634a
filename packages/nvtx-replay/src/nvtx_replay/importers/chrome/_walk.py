# SPDX-License-Identifier: Apache-2.0
"""One pass over the events: each phase of the format becomes a call of a visitor.

Both passes of an import walk alike, so that the n-th range of the one is the n-th of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Protocol

from nvtx_replay.importers.chrome._clock import Clock, TextTimeError, TimeValueError
from nvtx_replay.importers.chrome._identity import Id, Identities, Row, normal_id
from nvtx_replay.importers.chrome._pairing import Half, OpenRanges, async_key, merged
from nvtx_replay.importers.chrome._problems import Problems
from nvtx_replay.importers.chrome._samples import Series, Value, counter_samples, memory_samples
from nvtx_replay.importers.chrome._text import as_text

_JsonEvent = dict[str, Any]
# 146 years either way: the sum of a base time and any timestamp then still fits in 64 bits.
TIME_LIMIT = 2**62


class Visitor(Protocol):
    """What a pass does with the things an input holds. Times are relative, in nanoseconds."""

    def metadata(self, event: _JsonEvent) -> None:
        """Take an ``M`` event."""

    def slice(self, row: Row, begin: int, end: int | None, event: _JsonEvent) -> None:
        """Take a range of a thread; one that never ended has no end."""

    def instant(self, row: Row, time: int, event: _JsonEvent) -> None:
        """Take an instant of a thread."""

    def wide_instant(self, pid: Id, time: int, event: _JsonEvent) -> None:
        """Take an instant of a process, or of the whole trace (``s`` is ``"g"``)."""

    def sample(self, series: Series, time: int, value: Value) -> None:
        """Take a counter's value; None is a gap."""

    def flow(self, row: Row, time: int, event: _JsonEvent) -> None:
        """Take one point of a flow."""

    def async_range(self, pid: Id, begin: int, end: int | None, event: _JsonEvent) -> None:
        """Take an asynchronous range; one that never ended has no end."""

    def async_instant(self, pid: Id, time: int, event: _JsonEvent) -> None:
        """Take an instant of an asynchronous range."""


class Walk:
    """Interpret events in file order and pass them on to a visitor.

    Parameters
    ----------
    visitor : Visitor
        Who takes the result.
    identities : Identities
        The rows, shared by both passes.
    clock : Clock
        The reading of times.
    problems : Problems
        Where faults go.
    """

    def __init__(
        self, visitor: Visitor, identities: Identities, clock: Clock, problems: Problems
    ) -> None:
        self._visitor = visitor
        self._identities = identities
        self._clock = clock
        self._problems = problems
        self._nested = OpenRanges()
        self._async = OpenRanges()
        self._handlers = {
            "X": self._complete,
            "B": self._begin,
            "E": self._end,
            "i": self._instant,
            "I": self._instant,
            "C": self._counter,
            "s": self._flow,
            "t": self._flow,
            "f": self._flow,
            "b": self._async_begin,
            "e": self._async_end,
            "n": self._async_instant,
            "M": visitor.metadata,
        }

    def run(self, events: Iterable[Any]) -> None:
        """Walk over all events, then hand over the ranges that never ended."""
        handlers, problems = self._handlers, self._problems
        for number, event in enumerate(events):
            problems.event_number = number
            try:
                handler = handlers[event["ph"]]
            except (KeyError, TypeError):
                self._unknown(event)
                continue
            try:
                handler(event)
            except TextTimeError:
                pass  # counted where it was found
            except TimeValueError as error:
                problems.skip("bad_timestamp", f"its time is {error}")
        problems.event_number = -1
        self._finish()

    def _unknown(self, event: Any) -> None:
        if not isinstance(event, dict):
            self._problems.skip("not_an_event", f"found {as_text(event)[:40]}, expected an object")
        elif "ph" not in event:
            self._problems.skip("event_without_phase", "has no 'ph'")
        else:
            phase = as_text(event["ph"])[:10]
            # Phases are single letters; anything else is one kind, so that kinds stay few.
            kind = phase if len(phase) == 1 and phase.isascii() else "other"
            self._problems.skip(f"unknown_phase_{kind}", f"phase {phase!r} is not known")

    def _time(self, event: _JsonEvent) -> int:
        return self._checked(self._clock.nanoseconds(event.get("ts")))

    def _checked(self, time: int) -> int:
        if -TIME_LIMIT < time < TIME_LIMIT:
            return time
        raise TimeValueError(f"{time} ns, beyond 146 years from the base time")

    def _complete(self, event: _JsonEvent) -> None:
        span = self._clock.span(event.get("ts"), event.get("dur"))
        if span and -TIME_LIMIT < span[0] <= span[1] < TIME_LIMIT:
            self._visitor.slice(self._identities.row(event), *span, event)
        else:
            self._complete_exactly(event)

    def _complete_exactly(self, event: _JsonEvent) -> None:
        clock = self._clock
        exact = clock.exact(event.get("ts"))
        begin = self._checked(clock.round(exact))
        end: int | None = None
        try:
            duration = clock.exact(event.get("dur"))
        except TextTimeError:
            raise
        except TimeValueError as error:
            if not self._unfinished("range_without_duration", f"its duration is {error}"):
                return
        else:
            if duration >= 0:
                end = self._checked(clock.round(exact + duration))
            elif not self._unfinished("negative_duration", f"its duration is {duration} ns"):
                return
        self._visitor.slice(self._identities.row(event), begin, end, event)

    def _unfinished(self, kind: str, sentence: str) -> bool:
        return self._problems.repair(kind, f"{sentence}; kept as a range that never ended")

    def _begin(self, event: _JsonEvent) -> None:
        half = self._half(event)
        row = self._identities.row(event)
        half.owner = row
        self._nested.begin(row.index, half)

    def _half(self, event: _JsonEvent) -> Half:
        exact = self._clock.exact(event.get("ts"))
        self._checked(self._clock.round(exact))
        return Half(exact, event)

    def _end(self, event: _JsonEvent) -> None:
        end = self._time(event)
        row = self._identities.row(event)
        half = self._nested.end(row.index, event.get("name"))
        if half is None:
            self._problems.skip("end_without_begin", f"an 'E' of thread {row.tid} closes nothing")
            return
        if span := self._span(half.begin, end):
            self._visitor.slice(row, *span, merged(half.event, event))

    def _span(self, begin: int | Fraction, end: int) -> tuple[int, int] | None:
        start = self._clock.round(begin)
        if end >= start:
            return start, end
        sentence = f"ends {start - end} ns before it begins; kept with no length"
        return (start, start) if self._problems.repair("end_before_begin", sentence) else None

    def _instant(self, event: _JsonEvent) -> None:
        time = self._time(event)
        for series, value in memory_samples(event):
            self._visitor.sample(series, time, value)
        if event.get("s", "t") in ("p", "g"):
            self._visitor.wide_instant(normal_id(event.get("pid")), time, event)
        else:
            self._visitor.instant(self._identities.row(event), time, event)

    def _counter(self, event: _JsonEvent) -> None:
        time = self._time(event)
        for series, value in counter_samples(event, self._problems):
            self._visitor.sample(series, time, value)

    def _flow(self, event: _JsonEvent) -> None:
        time = self._time(event)
        self._visitor.flow(self._identities.row(event), time, event)

    def _async_begin(self, event: _JsonEvent) -> None:
        half = self._half(event)
        half.owner = normal_id(event.get("pid"))
        self._async.begin(async_key(event), half)

    def _async_end(self, event: _JsonEvent) -> None:
        end = self._time(event)
        half = self._async.end(async_key(event), event.get("name"))
        if half is None:
            self._problems.skip("end_without_begin", "an 'e' closes nothing")
            return
        if span := self._span(half.begin, end):
            self._visitor.async_range(half.owner, *span, merged(half.event, event))  # type: ignore[arg-type]

    def _async_instant(self, event: _JsonEvent) -> None:
        self._visitor.async_instant(normal_id(event.get("pid")), self._time(event), event)

    def _finish(self) -> None:
        for _, half in self._nested.left_open():
            if self._unfinished("range_left_open", f"{_name(half.event)} has no 'E'"):
                begin = self._clock.round(half.begin)
                self._visitor.slice(half.owner, begin, None, half.event)  # type: ignore[arg-type]
        for _, half in self._async.left_open():
            if self._unfinished("range_left_open", f"{_name(half.event)} has no 'e'"):
                begin = self._clock.round(half.begin)
                self._visitor.async_range(half.owner, begin, None, half.event)  # type: ignore[arg-type]


def _name(event: _JsonEvent) -> str:
    """Return an event's name for a message."""
    return f"'{as_text(event.get('name', ''))[:60]}'"
