# SPDX-License-Identifier: Apache-2.0
"""Handing samples to an attached NVTX tool while the program runs."""

from __future__ import annotations

import threading
from typing import Any

from nvtx import Domain, TimestampType, get_domain

from ._clock import RealtimeTie
from ._series import Series
from .samples import samples_of


def live_domain(name: str | None) -> Any | None:
    """Return the NVTX domain where a tool records it, else None."""
    domain = None if name is None else get_domain(name)
    return domain if isinstance(domain, Domain) else None


class LiveCounter:
    """The NVTX counter of one series; :meth:`flush` sends the rows that it has not had yet.

    Values go out in batches with their own stamps, on real time, which the counter declares.
    A row without values is sent when it happens, because NVTX has no stamp for it: the tool's
    stamp is the time of the call.
    """

    def __init__(self, domain: Any, name: str, series: Series, tie: RealtimeTie) -> None:
        self._series = series
        self._tie = tie
        self._sent = series.ring.written
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
        with self._lock:
            rows = series.ring.rows(self._sent)
            self._sent = rows.first + len(rows.time)
            new = samples_of(self._name, series.schema, rows, series.reasons.texts, self._tie)
            for reason, stretch in new.runs():
                if reason is None:
                    self._counter.batch_submit(new.packed(stretch), new.time[stretch])
                else:
                    self._counter.sample_no_value(reason)
