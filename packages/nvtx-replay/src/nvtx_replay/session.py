# SPDX-License-Identifier: Apache-2.0
"""Sessions: one output, written through a backend of ``nvtx.writer``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from nvtx.writer import StreamOrdering

from nvtx_replay._backend import RawSession, Target, choose
from nvtx_replay._clock import counts_from_epoch, time_domain_id
from nvtx_replay._counter_table import CounterBook
from nvtx_replay._faults import Faults, OnError, parse_on_error
from nvtx_replay._names import distinct
from nvtx_replay._ordering import parse_ordering
from nvtx_replay._single import StreamSetup
from nvtx_replay._strings import StringStore
from nvtx_replay.errors import ConfigError, ReplayError, StreamError
from nvtx_replay.report import Report
from nvtx_replay.stream import Stream


def open_session(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    backend: Any = None,
    config: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    on_error: OnError = "raise",
) -> Session:
    """Return a session that writes to ``path``; use it in a ``with`` statement.

    Parameters
    ----------
    path : path-like
        The output. With the suffix ``.nsys-rep`` Nsight Systems writes it, else Perfetto's format
        is written by ``nvtx-perfetto``.
    name : str, optional
        The session's name, shown as the root of its tracks; by default the file's name without
        suffix. Nsight Systems names its report after the session, so leave it out there.
    backend : path-like or nvtx.writer.Backend, optional
        The library that writes. By default the one that the environment variable
        ``NVTXW3_LIBRARY`` names, else one chosen by suffix: for ``.nsys-rep`` the Python package
        ``nsys_writer`` (which reads ``NSYS_WRITER_BACKEND``) or that variable's library alone, for
        all others ``nvtx_perfetto.library_path()``.
    config : mapping, optional
        The backend's options, such as ``{"time_offset": 10**9}`` (ns) or ``{"memory": "1G"}`` for
        ``nvtx-perfetto``. For ``nsys_writer`` they are its keywords ``report_merge`` and
        ``time_base``.
    overwrite : bool, optional
        Whether an existing output may be replaced.
    on_error : {"raise", "skip", "repair"}, optional
        What streams do with values that a timeline cannot show, unless a stream says otherwise:
        raise an error that names the row, or count it in :attr:`Session.report`.

    Returns
    -------
    Session
        Not begun yet: entering it, or ``begin()``, creates the output.

    Raises
    ------
    BackendNotFoundError
        If there is no backend; the message lists what was tried.
    ConfigError
        If the output exists and may not be replaced, or an option cannot be used.
    """
    if isinstance(config, str):
        raise ConfigError(f"config is the text {config!r}; expected a mapping of keys to values")
    target = Target(Path(os.fspath(path)), name, dict(config or {}), overwrite)
    if not overwrite and target.path.exists() and not target.path.is_char_device():
        raise ConfigError(f"{target.path} exists; pass overwrite=True to replace it")
    return Session(choose(target, backend), on_error=on_error)


class Session:
    """A session of ``nvtx.writer`` with checked streams.

    Made by :func:`open_session`. All that ``nvtx.writer.Session`` offers is here under its own
    name; the object itself is :attr:`raw`. Distinct streams may be written from distinct threads
    at once; begin, end and registration must not overlap them. A forked child must not use an
    inherited session.
    """

    def __init__(self, opened: RawSession, *, on_error: OnError = "raise") -> None:
        self._opened = opened
        self._on_error = parse_on_error(on_error)
        self._lock = threading.Lock()
        self._streams: dict[str, Stream] = {}
        self._stores: dict[int, StringStore] = {}  # by domain, as its streams share them
        self._books: dict[int, CounterBook] = {}
        self._report = Report()

    @property
    def raw(self) -> Any:
        """The ``nvtx.writer.Session`` underneath."""
        return self._opened.raw

    @property
    def report(self) -> Report:
        """What the session's streams skipped and repaired."""
        return self._report

    def begin(self) -> None:
        """Begin the session, which creates its output.

        Raises
        ------
        BackendError
            If the backend cannot; the message holds the backend's reason where it gives one.
        """
        with self._opened.explained():
            self.raw.begin()

    def end(self) -> None:
        """Close the streams that are open and end the session, which completes its output.

        Raises
        ------
        RowError
            If a stream with ``on_error="raise"`` still has open ranges; the output is complete.
        BackendError
            If the backend cannot, or if it lost data.
        """
        self._end(self.raw.end, quiet=False)

    def _end(self, end: Callable[[], None], *, quiet: bool) -> None:
        fault: ReplayError | None = None
        for stream in self._streams.values():
            try:
                stream.settle(quiet=quiet)
            except ReplayError as error:  # noqa: PERF203 - all are settled first
                fault = fault or error
        # What was registered is gone with the session, which may be begun again.
        self._streams.clear()
        self._stores.clear()
        self._books.clear()
        with self._opened.explained():
            end()
        if fault is not None:
            raise fault

    def get_domain(self, name: str | bytes | None = None) -> Any:
        """Return the ``nvtx.writer.Domain`` of that name, or the session's default domain."""
        return self.raw.get_domain(name)

    def create_stream(self, name: str | bytes, **options: Any) -> Any:
        """Return a raw, unchecked ``nvtx.writer.Stream``; :meth:`stream` returns a checked one."""
        return self.raw.create_stream(name, **options)

    def stream(
        self,
        name: str,
        *,
        domain: Any = None,
        time_domain: Any = "none",
        scope: Any = None,
        ordering: Any = None,
        on_error: OnError | None = None,
        **options: Any,
    ) -> Stream:
        """Return a checked stream; use it in a ``with`` statement.

        Parameters
        ----------
        name : str
            The stream's name, unique within the session.
        domain : str, bytes or nvtx.writer.Domain, optional
            The domain that its events belong to; by default the session's default domain.
        time_domain : str, nvtx.TimestampType or int, optional
            The clock of its timestamps: ``"realtime"``, ``"monotonic"``, ``"monotonic_raw"``,
            ``"boottime"``, ``"none"``, a type or a registered id.
        scope : str, nvtx.writer.Scope, nvtx.PredefinedScope or int, optional
            Where its events belong; a text is a path such as ``"process[12] train"``, registered in
            the domain.
        ordering : nvtx.writer.StreamOrdering or str, optional
            A promise about the order of what is written, such as ``"packed_range_start"``; it is
            checked. By default none is made.
        on_error : {"raise", "skip", "repair"}, optional
            As in :func:`open_session`; by default the session's.
        **options
            ``interleaving``, ``skid`` and ``skid_amount`` as in ``nvtx.writer``.

        Returns
        -------
        Stream
            Not open yet: entering it, or ``open()``, opens it.

        Raises
        ------
        StreamError
            If the session has a stream of that name. With ``on_error="repair"`` the new one is
            named ``name #2`` instead, and counted.
        ConfigError
            If an option has a value that cannot be used.
        """
        way = self._on_error if on_error is None else parse_on_error(on_error)
        chosen = (
            self.raw.get_domain(domain)
            if domain is None or isinstance(domain, (str, bytes))
            else domain
        )
        clock = time_domain_id(time_domain)
        arguments = {"domain": chosen, "time_domain_id": clock, **options}
        arguments["scope"] = chosen.get_scope(scope) if isinstance(scope, str) else scope
        promise = parse_ordering(ordering)
        if not (self._opened.plain_streams and promise is StreamOrdering.UNKNOWN):
            arguments["ordering"] = promise
        with self._lock:
            unique = self._unique(name, way)
            setup = StreamSetup(
                raw=self.raw.create_stream(unique, **arguments),
                opened=self._opened,
                domain=chosen,
                faults=Faults(way, self._report, unique),
                strings=self._stores.setdefault(id(chosen), StringStore(chosen)),
                counters=self._books.setdefault(id(chosen), CounterBook(chosen)),
                ordering=promise,
                dates=counts_from_epoch(clock),
            )
            stream = Stream(setup)
            self._streams[unique] = stream
        return stream

    def _unique(self, name: str, way: OnError) -> str:
        """Return a name that no stream of this session has, or refuse."""
        unique = distinct(name, self._streams)
        if unique == name:
            return name
        sentence = f"the session has a stream named {name!r}; names must be unique"
        if way != "repair":
            raise StreamError(f"{sentence}: choose another, or pass on_error='repair' to number it")
        self._report.repair("duplicate_stream_name", 1, sentence)
        return unique

    def __enter__(self) -> Session:
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The raw exit does nothing where closing the backend has ended the session already.
        self._end(lambda: self.raw.__exit__(kind, error, trace), quiet=error is not None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # before __init__ has run, and for copy and pickle
            raise AttributeError(name)
        return getattr(self._opened.raw, name)
