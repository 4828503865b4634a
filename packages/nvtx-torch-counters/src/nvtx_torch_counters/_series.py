# SPDX-License-Identifier: Apache-2.0
"""One probe's recorded series: reading it, keeping its rows, and what went wrong."""

from __future__ import annotations

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nvtx import CounterNoValueReason
from nvtx_schema import Schema

from ._clock import Clock, RealtimeTie
from ._ring import UNAVAILABLE, Ring, RingRows
from .errors import ProbeError, Unavailable
from .probe import LateRow, Probe, Row, StampedRows

logger = logging.getLogger("nvtx_torch_counters")

_MOST_REASONS = 64

#: So many late rows wait to be made out.
_MOST_WAITING = 64

#: Letters under which struct checks the range of what it packs and NumPy reads it back.
_CODES = {
    "i1": "b",
    "i2": "h",
    "i4": "i",
    "i8": "q",
    "u1": "B",
    "u2": "H",
    "u4": "I",
    "u8": "Q",
    "f2": "e",
    "f4": "f",
    "f8": "d",
}


class _Raised(NamedTuple):
    """What came back in place of a value."""

    error: BaseException


class Reasons:
    """The distinct texts that explain gaps, bounded; number 0 is the overflow text."""

    def __init__(self) -> None:
        self.texts = ["further reasons were not kept"]
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of `text`, remembering it while there is room."""
        known = self._numbers.get(text)
        if known is None and len(self.texts) < _MOST_REASONS:
            known = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return known or 0


class Series:
    """A probe with its ring; :meth:`take` reads it once.

    Taking is guarded by ``busy``, so that a probe is never read by two threads at once.
    Consecutive gaps of one reason are one row and are counted. Rows of the kind
    `LateRow` are made out in bursts; :meth:`settle` does so before anybody looks at rows or counts.
    """

    def __init__(self, probe: Probe, capacity: int) -> None:
        self.probe = probe
        self.name = probe.name
        self.schema = checked_schema(probe)
        self.capacity = capacity
        self.on_gap: Callable[[], None] | None = None
        dtypes = [self.schema.fields[name].dtype for name in self.schema.names]
        self._floats = tuple(dtype.kind == "f" for dtype in dtypes)
        self._codes = "".join(_CODES[dtype.str[1:]] for dtype in dtypes)
        self._clear()

    def _clear(self) -> None:
        self.busy = threading.RLock()
        self.ring = Ring(self._codes, self.capacity)
        self.reasons = Reasons()
        self.reads = self.gaps = self.read_ns = self.slowest_ns = 0
        self.stopped: str | None = "not started"
        self._gap_reason = -1
        self._last_ns = -1
        # What was read: when it began, how long it took, what came back, and the tie of the run.
        self._waiting: deque[tuple[int, int, Any, RealtimeTie]] = deque()
        # Held by whoever adds rows, and again by what a gap calls.
        self._adding = threading.RLock()

    def forget(self) -> None:
        """Start over in a forked child: no rows, no counts, locks that nobody holds."""
        self.on_gap = None
        self._clear()

    def open(self) -> None:
        """Open the probe; a failure is recorded and keeps it out of this run."""
        if not self.busy.acquire(blocking=False):
            self._end("is left out: a read of the last run still hangs")
            return
        try:
            if self.written:
                self._gap(self._last_ns + 1, 0, "the sampler was stopped")
            self.probe.open()
            self.stopped = None
        except Exception as error:  # noqa: BLE001 - probes are other people's code
            self._end(f"could not be opened: {text_of(error)}", isinstance(error, Unavailable))
        finally:
            self.busy.release()

    def close(self) -> None:
        """Close the probe after its run, unless it hangs in a read."""
        self.settle()
        if self.stopped is not None:
            return
        self.stopped = "the sampler was stopped"
        if not self.busy.acquire(blocking=False):
            return
        try:
            self.probe.close()
        except Exception as error:  # noqa: BLE001 - probes are other people's code
            self._end(f"could not be closed: {text_of(error)}")
        finally:
            self.busy.release()

    def take(self, clock: Clock, tie: RealtimeTie, *, wait: bool = True) -> bool:
        """Read the probe once and keep what it says.

        With ``wait=False`` a probe that another thread is reading is left alone. Returns
        whether it was read.
        """
        if self.stopped is not None or not self.busy.acquire(wait):
            return False
        try:
            now = clock.monotonic_ns
            begin = now()
            try:
                outcome: Any = self.probe.read()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code
                outcome = _Raised(error)
            self._waiting.append((begin, now() - begin, outcome, tie))
            if not isinstance(outcome, LateRow) or len(self._waiting) >= _MOST_WAITING:
                self.settle()
        finally:
            self.busy.release()
        return True

    def settle(self) -> None:
        """Make rows of what was read and waits for it; any thread may call it."""
        with self._adding:
            while self._waiting:
                self._make_out(*self._waiting.popleft())

    @property
    def written(self) -> int:
        """How many rows there were so far."""
        self.settle()
        return self.ring.written

    def rows(self, since: int = 0) -> RingRows:
        """Copy the rows numbered `since` and later that are still here."""
        self.settle()
        return self.ring.rows(since)

    def _make_out(self, begin: int, took: int, outcome: Any, tie: RealtimeTie) -> None:
        self.reads += 1
        self.read_ns += took
        self.slowest_ns = max(self.slowest_ns, took)
        middle, half = begin + took // 2, (took + 1) // 2
        if type(outcome) is _Raised:
            if isinstance(outcome.error, Unavailable):
                self._gap(middle, half, str(outcome.error))
            else:
                self.fail(outcome.error, middle, half)
            return
        try:
            self._keep(middle, half, outcome, tie)
        except Exception as error:  # noqa: BLE001 - any form may come back
            self.fail(self._misfit(outcome, error), middle, half)
            self._waiting.clear()  # read in the same way

    def _keep(self, middle: int, half: int, reading: Any, tie: RealtimeTie) -> None:
        if type(reading) is CounterNoValueReason:
            if reading is CounterNoValueReason.UNAVAILABLE:
                self._gap(middle, half, "the probe has no value")
            else:
                self._append_state(middle, half, reading.value + 1)
        elif type(reading) is StampedRows:
            for time_ns, error_ns, row in reading:
                self._append(time_ns - tie.offset_ns, error_ns + tie.error_ns, row)
        else:
            row = reading.values() if isinstance(reading, LateRow) else reading
            self._append(middle, half, row)

    def _append(self, time_ns: int, error_ns: int, row: Row) -> None:
        if len(row) != len(self._floats):
            raise ProbeError(f"{len(row)} values for {len(self._floats)} fields")
        values: Sequence[Any] = row
        if None in row:
            pairs = zip(row, self._floats, strict=True)
            values = [math.nan if value is None and f else value for value, f in pairs]
        self.ring.append(time_ns, error_ns, values)
        self._last_ns = time_ns
        self._gap_reason = -1

    def _append_state(self, time_ns: int, error_ns: int, state: int, reason: int = 0) -> None:
        self.ring.append_state(time_ns, error_ns, state, reason)
        self._last_ns = time_ns
        self._gap_reason = -1

    def _gap(self, time_ns: int, error_ns: int, why: str) -> None:
        self.gaps += 1
        number = self.reasons.number(why)
        if number == self._gap_reason:
            return
        self._append_state(time_ns, error_ns, UNAVAILABLE, number)
        self._gap_reason = number
        if self.on_gap is not None:
            self.on_gap()

    def gap_before(self, time_ns: int, why: str) -> None:
        """Leave a gap at `time_ns`, before the first value of a probe that joins late."""
        with self._adding:
            self._gap(time_ns, 0, why)

    def fail(self, error: BaseException, time_ns: int, error_ns: int) -> None:
        """End this probe alone: one gap, one recorded reason, one notice."""
        why = f"stopped: {text_of(error)}"
        self._gap(time_ns, error_ns, why)
        self._end(why)
        if not self.busy.acquire(blocking=False):
            return  # a read in another thread, while this one made out an earlier one
        try:
            self.probe.close()
        except Exception:
            logger.debug("closing probe %r failed too", self.name, exc_info=True)
        finally:
            self.busy.release()

    def _end(self, why: str, expected: bool = False) -> None:
        self.stopped = why
        self.reasons.number(why)
        logger.log(logging.INFO if expected else logging.WARNING, "probe %r %s", self.name, why)

    def _misfit(self, reading: Any, error: Exception) -> ProbeError:
        fields = ", ".join(f"{n}: {f.dtype}" for n, f in self.schema.fields.items())
        return ProbeError(
            f"read() returned {reading!r:.200} ({text_of(error)}); expected the values of "
            f"({fields}), None only for a float field, or a CounterNoValueReason"
        )


def text_of(error: BaseException) -> str:
    """Return what an error says, with its type where it says nothing of ours."""
    if isinstance(error, (Unavailable, ProbeError)):
        return str(error)
    return f"{type(error).__name__}: {error}"


def checked_schema(probe: Probe) -> Schema:
    """Return a probe's schema, or raise ProbeError where a sampler could not keep its rows."""
    schema: object = probe.schema
    if not isinstance(schema, Schema) or schema.kind_name != "counter":
        raise ProbeError(
            f"probe {probe.name!r} has the schema {schema!r}; "
            "expected one from nvtx_schema.counter_schema"
        )
    for name, inner in schema.fields.items():
        if inner.role is not None or inner.shape or inner.dtype.str[1:] not in _CODES:
            raise ProbeError(
                f"probe {probe.name!r}, field {name!r} ({inner.dtype}): a sampled field is one "
                "integer or float, and the sampler adds the time"
            )
    return schema
