# SPDX-License-Identifier: Apache-2.0
"""The sampler: reads probes on schedule, keeps what they say and hands it on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from ._account import report_of
from ._clock import Clock, RealtimeTie
from ._intervals import checked_interval_ns
from ._lanes import Lanes
from ._lifetimes import EVERY, RUNNING
from ._live import LiveFeed
from ._numbers import NUMBERS, numbered
from ._outputs import child_path, output_path
from ._roster import Roster
from ._series import Series
from .defaults import default_probes
from .errors import SamplerError
from .peaks import Peak
from .probe import PeakProbe, Probe, ProbeSource
from .report import Report
from .samples import Samples, samples_of
from .table import Table
from .writing import write_samples


class CounterSampler:
    """Sample counters on a schedule, recorded here and, with a tool attached, as NVTX counters.

    Parameters
    ----------
    probes : iterable of Probe or ProbeSource, optional
        What to read; :func:`default_probes` by default.
    interval : float
        Seconds between two reads of probes that name no interval of their own; at least 0.001.
    capacity : int
        Rows kept a probe; the oldest are overwritten, and counted. A row takes 24 bytes and
        its fields' own, mapped when used.
    domain : str or None
        NVTX domain of the live counters; None sends nothing.
    output : path, optional
        A ``.csv`` or ``.parquet`` file to write at every stop, also at the interpreter's exit.
    clock : optional
        Replaces the machine's clocks and waiting; for tests.

    Raises
    ------
    IntervalError
        If an interval is less than 0.001 s or no number.
    ProbeError
        If two probes have one name or a schema cannot be sampled.
    SinkError
        If `output` cannot be written.

    Notes
    -----
    Probes of one interval share a daemon thread, so that a slow device delays nothing faster.
    A forked child has a stopped, empty sampler, which it may start; the parent's goes on. The
    methods may be called from any thread.

    Examples
    --------
    >>> with CounterSampler(interval=0.01) as sampler:
    ...     total = sum(range(100_000))
    >>> bool((sampler.samples("process memory").values["rss"] > 0).all())
    True
    """

    def __init__(
        self,
        probes: Iterable[Probe | ProbeSource] | None = None,
        *,
        interval: float = 0.01,
        capacity: int = 524_288,
        domain: str | None = "torch.counters",
        output: str | os.PathLike[str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._interval_ns = checked_interval_ns(interval)
        self._roster = Roster(self._interval_ns, checked_capacity(capacity))
        self._domain_name = domain
        self._output = output_path(output)
        self._clock = clock or Clock()
        self._tie = RealtimeTie(0, 0)
        self._started_ns = self._stopped_ns = 0
        self._rest()
        for probe in default_probes() if probes is None else probes:
            self._roster.add(probe)
        EVERY.add(self)

    def _rest(self) -> None:
        """Be a sampler that no thread is at work for."""
        self._lock = threading.RLock()
        self._running = self._threaded = False
        self._number = 1
        self._lanes = Lanes(self._clock, self._interval_ns)
        self._live = LiveFeed(None)

    @property
    def running(self) -> bool:
        """Whether probes are open: between start, or the first step, and stop."""
        return self._running

    @property
    def names(self) -> list[str]:
        """The names of the counter groups so far; more may join later."""
        return list(self._roster.by_name)

    def start(self) -> CounterSampler:
        """Open the probes, read each once, and begin to sample.

        A second start after a stop goes on in the same rings, with a gap between.

        Raises
        ------
        SamplerError
            If it is running.
        """
        with self._lock:
            if self._running:
                raise SamplerError("the sampler is running; stop it before starting it again")
            self._begin()
            self._threaded = True
            for series in self._roster.every():
                self._schedule(series)
            self._lanes.start(self._keep_up)
        return self

    def stop(self, timeout: float = 2.0) -> None:
        """Read every probe once more, end the threads, send and write what is recorded.

        Waits at most `timeout` seconds in all for reads that are under way; a probe or a source
        that hangs for longer is left behind. Does nothing when not running.
        """
        deadline = time.monotonic() + timeout
        # Whoever holds the lock for so long hangs in other people's code, and will not be back.
        held = self._lock.acquire(timeout=timeout)
        try:
            if self._running:
                self._finish(max(0.0, deadline - time.monotonic()))
        finally:
            if held:
                self._lock.release()

    def step(self) -> None:
        """Read every probe once, now, in this thread; needs no start and starts no thread."""
        with self._lock:
            if not self._running:
                self._begin()
                return
            joined = self._discover()
            for series in self._roster.every():
                if series not in joined:
                    series.take(self._clock, self._tie)
            self._live.flush()

    def peak(self, name: str) -> Peak:
        """Return a context manager that finds each counter's peak inside it.

        Regions may nest and may run in several threads. Nobody's peak statistics are reset.

        Raises
        ------
        SamplerError
            If the sampler is not running.
        """
        if not self._running:
            raise SamplerError("peaks need a running sampler; call start() or step() first")
        return Peak(name, self._survey, self._samples_since)

    def samples(self, name: str) -> Samples:
        """Return what was recorded of the counter group `name` so far, as NumPy arrays."""
        series = self._roster.by_name.get(name)
        if series is None:
            raise SamplerError(f"no counter group is named {name!r}; there are {self.names}")
        return self._samples_since(series, 0)

    def report(self) -> Report:
        """Return what sampling cost and lost so far, and why there are gaps."""
        end = self._clock.monotonic_ns() if self._running else self._stopped_ns
        wall = max(0, end - self._started_ns)
        missing = self._roster.missing()
        spans = (wall, self._interval_ns)
        return report_of(self._roster.every(), self._lanes.all(), missing, spans, self._tie)

    def table(self) -> Table:
        """Return all samples as one table of columns, ordered by time."""
        return Table.of([self.samples(name) for name in self.names])

    def to_frame(self) -> Any:
        """Return all samples as a ``pandas.DataFrame``; see :meth:`Table.to_frame`."""
        return self.table().to_frame()

    def to_arrow(self) -> Any:
        """Return all samples as a ``pyarrow.Table``; see :meth:`Table.to_arrow`."""
        return self.table().to_arrow()

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write all samples to a Parquet file, units in the fields' metadata."""
        self.table().to_parquet(path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all samples to a CSV file, units in the header."""
        self.table().to_csv(path)

    def write_to(self, stream: Any, *, domain: Any = None, clock: str = "realtime") -> int:
        """Write all samples to an open ``nvtx.writer`` stream; return the number of rows.

        Parameters
        ----------
        stream : nvtx.writer.Stream
            A stream in a time domain of `clock`, or a wrapper with the same methods. Rows are
            in order within a counter, not across counters.
        domain : nvtx.writer.Domain, optional
            The stream's domain, where the counters are registered; needed where the stream has
            no ``domain`` attribute, as those of ``nvtx.writer`` have none.
        clock : {"realtime", "monotonic"}
            Which stamps to write.

        Raises
        ------
        SinkError
            If the domain is missing or `clock` is neither.
        """
        groups = [self.samples(name) for name in self.names]
        return write_samples(stream, groups, domain=domain, clock=clock)

    def __enter__(self) -> CounterSampler:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _samples_since(self, series: Series, row: int) -> Samples:
        shown = numbered(series.name, self._number)
        rows = series.rows(row)
        return samples_of(shown, series.schema, rows, series.reasons.texts, self._tie)

    def _survey(self) -> list[Series]:
        """Read the probes that are cheap to read, for a region's begin or end."""
        if self._running:
            with self._lock:
                self._discover()
            for series in self._roster.every():
                if series.probe.interval is None or isinstance(series.probe, PeakProbe):
                    series.take(self._clock, self._tie)
        return self._roster.every()

    def _begin(self) -> None:
        """Open everything and read it once."""
        self._number = NUMBERS.take()
        self._tie = RealtimeTie.read(self._clock)
        self._started_ns = self._clock.monotonic_ns()
        self._lanes = Lanes(self._clock, self._interval_ns)
        self._live = LiveFeed(self._domain_name)
        self._running = True
        RUNNING.add(self)
        for series in self._roster.every():
            self._connect(series)
        self._roster.search_again()
        for series, _ in self._roster.found():
            self._connect(series)
        for series in self._roster.every():
            series.take(self._clock, self._tie, wait=False)
        self._live.flush()

    def _finish(self, timeout: float) -> None:
        """Read everything once more, close it, and hand over what is recorded."""
        self._lanes.end(timeout)
        for series in self._roster.every():
            series.take(self._clock, self._tie, wait=False)
        self._stopped_ns = self._clock.monotonic_ns()
        self._running = self._threaded = False
        self._live.flush()
        for series in self._roster.every():
            series.close()
        NUMBERS.give_back(self._number)
        RUNNING.discard(self)
        if self._output is not None:
            self._write_output(self._output)

    def _connect(self, series: Series) -> None:
        self._live.connect(numbered(series.name, self._number), series, self._tie)
        series.open()

    def _schedule(self, series: Series) -> None:
        interval_ns = self._roster.interval_ns(series)
        self._lanes.put(interval_ns, partial(series.take, self._clock, self._tie))

    def _discover(self) -> list[Series]:
        """Let probes join whose device has come into use: after a gap, and read at once."""
        joined = []
        for series, waited_for in self._roster.found():
            self._connect(series)
            series.gap_before(self._started_ns, waited_for)
            series.take(self._clock, self._tie)
            if self._threaded:
                self._schedule(series)
            joined.append(series)
        return joined

    def _keep_up(self) -> None:
        # The lock is held while stop() waits for this thread, so it is never waited for here.
        if self._lock.acquire(blocking=False):
            try:
                if self._running:
                    self._discover()
                    self._live.flush()
            finally:
                self._lock.release()
        self._tie.check(self._clock)

    def _write_output(self, path: Path) -> None:
        table = self.table()
        (table.to_csv if path.suffix == ".csv" else table.to_parquet)(path)

    def after_fork(self) -> None:
        """Start over in a forked child: no threads, no rows, an output of its own.

        Called by the package itself.
        """
        self._rest()
        for series in self._roster.every():
            series.forget()
        if self._output is not None:
            self._output = child_path(self._output)


def checked_capacity(capacity: int) -> int:
    """Return the capacity, or raise where a ring could not hold a batch between two flushes."""
    if capacity < 1024:
        raise SamplerError(f"capacity is {capacity} rows; expected at least 1024")
    return capacity
