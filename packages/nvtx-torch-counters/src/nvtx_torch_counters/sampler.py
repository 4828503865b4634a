# SPDX-License-Identifier: Apache-2.0
"""The sampler: reads probes on schedule, keeps what they say and hands it on."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from ._account import report_of
from ._clock import Clock, RealtimeTie
from ._intervals import checked_interval_ns
from ._lane import Lane
from ._live import LiveCounter, live_domain
from ._numbers import NUMBERS, numbered
from ._outputs import child_path, output_path
from ._search import Search
from ._series import Series
from .defaults import default_probes
from .errors import IntervalError, ProbeError, SamplerError
from .peaks import Peak
from .probe import PeakProbe, Probe, ProbeSource
from .report import Report
from .samples import Samples, samples_of
from .table import Table
from .writing import write_samples

_UPKEEP_NS = 250_000_000

_EXIT_TIMEOUT = 1.0


class CounterSampler:
    """Sample counters on a schedule, recorded here and, with a tool attached, as NVTX counters.

    Parameters
    ----------
    probes : iterable of Probe or ProbeSource, optional
        What to read; :func:`default_probes` by default.
    interval : float
        Seconds between two reads of probes that name no interval of their own; at least 0.001.
    capacity : int
        Rows kept a probe; the oldest are overwritten, and counted. A row takes 19 bytes and
        8 a field, mapped when used.
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
        self._capacity = checked_capacity(capacity)
        self._domain_name = domain
        self._output = output_path(output)
        self._clock = clock or Clock()
        self._tie = RealtimeTie(0, 0)
        self._series: dict[str, Series] = {}
        self._searches: list[Search] = []
        self._refused: dict[str, str] = {}
        self._lanes: dict[int, Lane] = {}
        self._live: dict[str, LiveCounter] = {}
        self._domain: Any = None
        self._started_ns = self._stopped_ns = 0
        self._number = 1
        self._forget_threads()
        for probe in default_probes() if probes is None else probes:
            self._add(probe)
        _EVERY.add(self)

    def _forget_threads(self) -> None:
        self._lock = threading.RLock()
        self._running = self._threaded = False
        self._upkeep: Lane | None = None
        self._lanes = {}

    def _add(self, probe: Probe | ProbeSource) -> Series | None:
        if isinstance(probe, ProbeSource):
            self._searches.append(Search(probe))
            return None
        if probe.name in self._series:
            raise ProbeError(f"two probes are named {probe.name!r}; give each a name of its own")
        if probe.interval is not None:
            checked_interval_ns(probe.interval)
        series = self._series[probe.name] = Series(probe, self._capacity)
        return series

    @property
    def running(self) -> bool:
        """Whether probes are open: between start, or the first step, and stop."""
        return self._running

    @property
    def names(self) -> list[str]:
        """The names of the counter groups so far; more may join later."""
        return list(self._series)

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
            for series in self._series.values():
                self._schedule(series)
            for lane in self._lanes.values():
                lane.start()
            self._upkeep = Lane("nvtx-counters upkeep", _UPKEEP_NS, [self._keep_up], self._clock)
            self._upkeep.start()
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
            for series in self._series.values():
                if series not in joined:
                    series.take(self._clock, self._tie)
            self._flush()

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
        series = self._series.get(name)
        if series is None:
            raise SamplerError(f"no counter group is named {name!r}; there are {self.names}")
        return self._samples_since(series, 0)

    def report(self) -> Report:
        """Return what sampling cost and lost so far, and why there are gaps."""
        end = self._clock.monotonic_ns() if self._running else self._stopped_ns
        lanes = [*self._lanes.values(), *([self._upkeep] if self._upkeep else [])]
        wall = max(0, end - self._started_ns)
        missing = dict(self._refused)
        for search in self._searches:
            missing.update(search.reasons())
        series = list(self._series.values())
        return report_of(series, lanes, missing, (wall, self._interval_ns), self._tie)

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
        rows = series.ring.rows(row)
        return samples_of(shown, series.schema, rows, series.reasons.texts, self._tie)

    def _survey(self) -> list[Series]:
        """Read the probes that are cheap to read, for a region's begin or end."""
        if not self._running:
            return list(self._series.values())
        with self._lock:
            self._discover()
        for series in list(self._series.values()):
            if series.probe.interval is None or isinstance(series.probe, PeakProbe):
                series.take(self._clock, self._tie)
        return list(self._series.values())

    def _begin(self) -> None:
        """Open everything and read it once."""
        self._number = NUMBERS.take()
        self._tie = RealtimeTie.read(self._clock)
        self._started_ns = self._clock.monotonic_ns()
        self._lanes = {}
        self._live = {}
        self._domain = live_domain(self._domain_name)
        self._running = True
        _RUNNING.add(self)
        for series in self._series.values():
            self._connect(series)
        for search in self._searches:
            search.reopen()
        self._discover(at_start=True)
        for series in self._series.values():
            series.take(self._clock, self._tie)
        self._flush()

    def _finish(self, timeout: float) -> None:
        """Read everything once more, close it, and hand over what is recorded."""
        self._end_threads(timeout)
        every = list(self._series.values())
        for series in every:
            series.take(self._clock, self._tie, wait=False)
        self._stopped_ns = self._clock.monotonic_ns()
        self._running = self._threaded = False
        self._flush()
        for series in every:
            if series.busy.acquire(blocking=False):
                series.close()
                series.busy.release()
        NUMBERS.give_back(self._number)
        _RUNNING.discard(self)
        if self._output is not None:
            self._write_output(self._output)

    def _connect(self, series: Series) -> None:
        if self._domain is not None:
            shown = numbered(series.name, self._number)
            live = self._live[series.name] = LiveCounter(self._domain, shown, series, self._tie)
            series.on_gap = live.flush
        series.open()

    def _schedule(self, series: Series) -> Lane:
        own = series.probe.interval
        interval_ns = self._interval_ns if own is None else checked_interval_ns(own)
        lane = self._lanes.get(interval_ns)
        if lane is None:
            name = f"nvtx-counters {interval_ns / 1e6:g} ms"
            lane = self._lanes[interval_ns] = Lane(name, interval_ns, [], self._clock)
        lane.add(lambda: series.take(self._clock, self._tie))
        return lane

    def _discover(self, *, at_start: bool = False) -> list[Series]:
        """Let probes join whose device has come into use; late ones are read at once."""
        joined = []
        for search in self._searches:
            for probe in search.found():
                series = self._connected(probe)
                if series is not None and not at_start:
                    series.gap_before(self._started_ns, search.waited_for)
                    self._join(series)
                    joined.append(series)
        return joined

    def _connected(self, probe: Probe) -> Series | None:
        try:
            series = self._add(probe)
        except (ProbeError, IntervalError) as error:
            self._refused[probe.name] = str(error)
            return None
        if series is not None:
            self._connect(series)
        return series

    def _join(self, series: Series) -> None:
        series.take(self._clock, self._tie)
        if self._threaded:
            lane = self._schedule(series)
            if not lane.started:
                lane.start()

    def _keep_up(self) -> None:
        # The lock is held while stop() joins this thread, so it is never waited for here.
        if self._lock.acquire(blocking=False):
            try:
                if self._running:
                    self._discover()
                    self._flush()
            finally:
                self._lock.release()
        self._tie.check(self._clock)

    def _flush(self) -> None:
        for live in list(self._live.values()):
            live.flush()

    def _end_threads(self, timeout: float) -> None:
        lanes = [*self._lanes.values(), *([self._upkeep] if self._upkeep else [])]
        for lane in lanes:
            lane.stop()
        deadline = time.monotonic() + timeout
        for lane in lanes:
            lane.join(max(0.0, deadline - time.monotonic()))

    def _write_output(self, path: Path) -> None:
        table = self.table()
        (table.to_csv if path.suffix == ".csv" else table.to_parquet)(path)

    def _after_fork(self) -> None:
        """In a forked child: no threads, no rows, an output of its own."""
        self._forget_threads()
        self._live = {}
        self._domain = None
        self._number = 1
        for series in self._series.values():
            series.forget()
        if self._output is not None:
            self._output = child_path(self._output)


def checked_capacity(capacity: int) -> int:
    """Return the capacity, or raise where a ring could not hold a batch between two flushes."""
    if capacity < 1024:
        raise SamplerError(f"capacity is {capacity} rows; expected at least 1024")
    return capacity


_EVERY: weakref.WeakSet[CounterSampler] = weakref.WeakSet()
_RUNNING: set[CounterSampler] = set()


def _stop_at_exit() -> None:
    for sampler in list(_RUNNING):
        sampler.stop(_EXIT_TIMEOUT)


def _reset_in_child() -> None:
    _RUNNING.clear()
    for sampler in list(_EVERY):
        sampler._after_fork()  # noqa: SLF001 - the module's own class


atexit.register(_stop_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)
