# SPDX-License-Identifier: Apache-2.0
"""Handing samples to an attached NVTX tool while the program runs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from nvtx import CounterNoValueReason, Domain, TimestampType, get_domain

from ._clock import RealtimeTie
from ._ring import VALUE, ZERO
from ._series import Series
from .samples import Samples, samples_of


class LiveCounter:
    """The NVTX counter of one series; :meth:`flush` sends the rows that it has not had yet.

    Values go out in batches with their own stamps, on real time, which the counter declares;
    so do zeros and repeated values. A gap is sent when it happens, because NVTX has no stamp
    for it: the tool's stamp is the time of the call.
    """

    def __init__(self, domain: Any, name: str, series: Series, tie: RealtimeTie) -> None:
        self._series = series
        self._tie = tie
        self._sent = self._anchor = series.written
        self._lock = threading.Lock()
        self._name = name
        self._counter = domain.get_counter(
            name,
            series.schema.dtype,
            description=getattr(series.probe, "description", None),
            time_domain=TimestampType.CPU_CLOCK_GETTIME_REALTIME,
        )

    def flush(self) -> None:
        """Send what is new. Threads may call it at once."""
        series = self._series
        series.settle()  # not inside: it may call this
        with self._lock:
            # From the last row that says values of its own, which later ones may repeat.
            rows = series.ring.rows(self._anchor)
            new = samples_of(self._name, series.schema, rows, series.reasons.texts, self._tie)
            unsent = max(0, self._sent - rows.first)
            self._sent = rows.first + len(new)
            said = np.flatnonzero((rows.state == VALUE) | (rows.state == ZERO))
            self._anchor = rows.first + int(said[-1]) if len(said) else self._anchor
            self._send(new, unsent)

    def _send(self, new: Samples, unsent: int) -> None:
        at = unsent
        for end in (*(np.flatnonzero(~new.known[unsent:]) + unsent).tolist(), len(new)):
            if at < end:
                self._counter.batch_submit(new.packed(slice(at, end)), new.time[at:end])
            if end < len(new):
                self._counter.sample_no_value(CounterNoValueReason.UNAVAILABLE)
            at = end + 1


class LiveFeed:
    """The live counters of one run of a sampler; none where no tool records the domain.

    Parameters
    ----------
    domain : str or None
        The domain's name; None sends nothing.
    """

    def __init__(self, domain: str | None) -> None:
        found = None if domain is None else get_domain(domain)
        self._domain = found if isinstance(found, Domain) else None
        self._counters: list[LiveCounter] = []

    def connect(self, name: str, series: Series, tie: RealtimeTie) -> None:
        """Send a series' rows from now on: gaps at once, others when flushed."""
        series.on_gap = None
        if self._domain is not None:
            counter = LiveCounter(self._domain, name, series, tie)
            self._counters = [*self._counters, counter]
            series.on_gap = counter.flush

    def flush(self) -> None:
        """Send what is new of every series."""
        for counter in self._counters:
            counter.flush()
