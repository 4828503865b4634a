# SPDX-License-Identifier: Apache-2.0
"""The probes of one sampler: those it was given, and those that its sources found since."""

from __future__ import annotations

from collections.abc import Iterator

from ._intervals import checked_interval_ns
from ._search import Search
from ._series import Series
from .errors import IntervalError, ProbeError
from .probe import Probe, ProbeSource


class Roster:
    """Series by name, and the searches for more."""

    def __init__(self, interval_ns: int, capacity: int) -> None:
        self.by_name: dict[str, Series] = {}
        self._interval_ns = interval_ns
        self._capacity = capacity
        self._searches: list[Search] = []
        self._refused: dict[str, str] = {}

    def add(self, probe: Probe | ProbeSource) -> Series | None:
        """Take a probe or a source in; return the series of a probe."""
        if isinstance(probe, ProbeSource):
            self._searches.append(Search(probe))
            return None
        if probe.name in self.by_name:
            raise ProbeError(f"two probes are named {probe.name!r}; give each a name of its own")
        if probe.interval is not None:
            checked_interval_ns(probe.interval)
        series = self.by_name[probe.name] = Series(probe, self._capacity)
        return series

    def every(self) -> list[Series]:
        """Return all series of now; others may join while the list is used."""
        return list(self.by_name.values())

    def interval_ns(self, series: Series) -> int:
        """Return a series' interval: its probe's, else the sampler's."""
        own = series.probe.interval
        return self._interval_ns if own is None else checked_interval_ns(own)

    def search_again(self) -> None:
        """Ask sources that failed in an earlier run again."""
        for search in self._searches:
            search.reopen()

    def found(self) -> Iterator[tuple[Series, str]]:
        """Yield the series of probes that sources have found now, and what was waited for."""
        for search in self._searches:
            for probe in search.found():
                series = self._admitted(probe)
                if series is not None:
                    yield series, search.waited_for

    def _admitted(self, probe: Probe) -> Series | None:
        try:
            return self.add(probe)
        except (ProbeError, IntervalError) as error:
            self._refused[probe.name] = str(error)
            return None

    def missing(self) -> dict[str, str]:
        """Return what was looked for and is not measured, and why."""
        missing = dict(self._refused)
        for search in self._searches:
            missing.update(search.reasons())
        return missing
