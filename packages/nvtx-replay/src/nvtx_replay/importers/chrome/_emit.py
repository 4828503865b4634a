# SPDX-License-Identifier: Apache-2.0
"""The second pass: events become rows of NVTX writer streams."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from nvtx import CounterSemantics, EventKind, TimestampType

from nvtx_replay._names import distinct
from nvtx_replay.importers.chrome._batches import EventBatches, SampleBatches, StreamRows
from nvtx_replay.importers.chrome._flows import Ends
from nvtx_replay.importers.chrome._identity import Id, Row
from nvtx_replay.importers.chrome._layout import Encoder, plain_args
from nvtx_replay.importers.chrome._ranges import ANNOTATIONS, PYTHON_STACK
from nvtx_replay.importers.chrome._samples import Series, Value
from nvtx_replay.importers.chrome._scan import Scan, lane_of
from nvtx_replay.importers.chrome._strings import RepeatedStrings
from nvtx_replay.importers.chrome._text import as_text

_JsonEvent = dict[str, Any]
MAX_CATEGORIES = 4_096
_GLOBAL = "global instants"
_HALVES = (EventKind.RANGE_PUSH, EventKind.RANGE_START)
_RANGE_FIELDS = frozenset({"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"})
_ASYNC_FIELDS = _RANGE_FIELDS | {"scope"}
_MARK_FIELDS = _RANGE_FIELDS | {"s"}


class Emitter:
    """Write what a walk finds; a :class:`~nvtx_replay.importers.chrome._walk.Visitor`.

    Parameters
    ----------
    session : nvtx.writer.Session
        An active session.
    domain_name : str
        The domain of everything written.
    scan : Scan
        The first pass.
    base : int or None
        Nanoseconds since the epoch that relative times count from.
    """

    def __init__(self, session: Any, domain_name: str, scan: Scan, base: int | None) -> None:
        self._session = session
        self._domain = session.get_domain(domain_name)
        self._scan = scan
        self._base = base or 0
        self._clock = (
            TimestampType.NONE if base is None else TimestampType.CPU_CLOCK_GETTIME_REALTIME
        )
        self._encoder = Encoder(RepeatedStrings(self._domain))
        self._events = EventBatches(self._domain)
        self._samples = SampleBatches()
        self._counter_stream: Any = None
        self._rows: tuple[dict[int, StreamRows], ...] = ({}, {})
        self._wide_rows: dict[tuple[Id, str], StreamRows] = {}
        self._counters: dict[Series, Any] = {}
        self._categories: dict[str, int] = {}
        self._edges = scan.edges
        self._clipped = scan.clipped
        self._open = ExitStack()
        self._stream_names: set[str] = set()
        self._ordinal = 0
        self._range_ids = 0

    @property
    def folded(self) -> int:
        """Events whose arguments were folded into one JSON text."""
        return self._encoder.folded

    @property
    def changed_texts(self) -> int:
        """Texts of events in which something could not be carried."""
        return self._encoder.changed_texts

    @property
    def written(self) -> int:
        """Ranges of threads written."""
        return self._ordinal

    def __enter__(self) -> Emitter:
        self._edges.sort()
        # Scopes in the order of the input's sort indices: that is the order tracks are made in.
        identities = self._scan.identities
        for row in sorted(self._scan.used_rows.values(), key=identities.order):
            self._domain.get_scope(identities.thread_path(row))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._open:
            if kind is None:
                self._events.flush()
                if self._counter_stream is not None:
                    self._samples.flush(self._counter_stream)

    def metadata(self, event: _JsonEvent) -> None:
        """Pass over names, which the first pass took."""

    def flow(self, row: Row, time: int, event: _JsonEvent) -> None:
        """Pass over flow points, which the first pass tied to ranges."""

    def slice(self, row: Row, begin: int, end: int | None, event: _JsonEvent) -> None:
        """Write a range of a thread."""
        ordinal, self._ordinal = self._ordinal, self._ordinal + 1
        edges, base = self._edges, self._base
        ends = edges.take() if ordinal == edges.next_ordinal else None
        rows = self._row_stream(row, lane_of(event))
        if end is None:
            self._write(rows, EventKind.RANGE_PUSH, (base + begin,), event, ends)
        else:
            if ordinal in self._clipped:
                end = self._clipped[ordinal]
            self._write(rows, EventKind.RANGE_PUSHPOP, (base + begin, base + end), event, ends)

    def instant(self, row: Row, time: int, event: _JsonEvent) -> None:
        """Write an instant of a thread."""
        stream = self._row_stream(row, ANNOTATIONS)
        self._write(stream, EventKind.MARK, (self._base + time,), event, fields=_MARK_FIELDS)

    def wide_instant(self, pid: Id, time: int, event: _JsonEvent) -> None:
        """Write an instant of a process or of the whole trace."""
        if event.get("s") == "g":
            stream = self._process_stream(None, _GLOBAL)
        else:
            stream = self._process_stream(pid, "process instants")
        self._write(stream, EventKind.MARK, (self._base + time,), event, fields=_MARK_FIELDS)

    def async_range(self, pid: Id, begin: int, end: int | None, event: _JsonEvent) -> None:
        """Write an asynchronous range."""
        stream = self._process_stream(pid, "async")
        if end is None:
            self._range_ids += 1
            head = EventKind.RANGE_START, (self._base + begin, self._range_ids)
        else:
            head = EventKind.RANGE_STARTEND, (self._base + begin, self._base + end)
        self._write(stream, *head, event, fields=_ASYNC_FIELDS)

    def async_instant(self, pid: Id, time: int, event: _JsonEvent) -> None:
        """Write an instant of an asynchronous range."""
        stream = self._process_stream(pid, "async")
        self._write(stream, EventKind.MARK, (self._base + time,), event, fields=_ASYNC_FIELDS)

    def sample(self, series: Series, time: int, value: Value) -> None:
        """Write a counter's value."""
        if self._counter_stream is None:
            self._counter_stream = self._open_stream(None, "counters")
        counter = self._counters.get(series)
        if counter is None:
            counter = self._counters[series] = self._counter(series)
        self._samples.add(self._counter_stream, counter, self._base + time, value)

    def _counter(self, series: Series) -> Any:
        scope = self._domain.get_scope(self._scan.identities.process_path(series.pid))
        kind = float if self._scan.float_series[series] else int
        semantics = CounterSemantics(unit=series.unit) if series.unit else None
        return self._domain.get_counter(series.name, kind, scope=scope, semantics=semantics)

    def _write(
        self,
        rows: StreamRows,
        kind: EventKind,
        head: tuple[int, ...],
        event: _JsonEvent,
        ends: Ends | None = None,
        *,
        fields: frozenset[str] = _RANGE_FIELDS,
    ) -> None:
        name, args, category = event.get("name", ""), event.get("args"), event.get("cat")
        number = self._categories.get(category) if type(category) is str else None
        beside: list[tuple[str, Any]] = []
        if number is None:
            number, beside = self._category(category)
        if type(args) is not dict or beside or not event.keys() <= fields:
            beside += sorted((key, event[key]) for key in event.keys() - fields)
            args = plain_args(args, beside)
        if type(name) is not str:
            name = as_text(name)
        layout, row = self._encoder.row(kind, (*head, number), name, args, ends)
        if kind in _HALVES:
            self._events.write_half(rows, layout, row)
        else:
            self._events.add(rows, layout, row)

    def _category(self, name: Any) -> tuple[int, list[tuple[str, Any]]]:
        """Return the id of a category, or 0 and an argument where there are too many."""
        if not name:
            return 0, []
        text = as_text(name)
        if text not in self._categories and len(self._categories) >= MAX_CATEGORIES:
            return 0, [("cat", text)]
        number = int(self._domain.get_category_id(text))
        self._categories[text] = number
        return number, []

    def _row_stream(self, row: Row, lane: int) -> StreamRows:
        rows = self._rows[lane].get(row.index)
        if rows is None:
            identities = self._scan.identities
            name = identities.thread_label(row)
            if lane == PYTHON_STACK:
                name = f"{name} · Python stack"
            rows = self._open_rows(identities.thread_path(row), name)
            self._rows[lane][row.index] = rows
        return rows

    def _process_stream(self, pid: Id, name: str) -> StreamRows:
        rows = self._wide_rows.get((pid, name))
        if rows is None:
            path = None if name == _GLOBAL else self._scan.identities.process_path(pid)
            rows = self._wide_rows[pid, name] = self._open_rows(path, name)
        return rows

    def _open_rows(self, path: str | None, name: str) -> StreamRows:
        return self._events.open(self._open_stream(path, name))

    def _open_stream(self, path: str | None, name: str) -> Any:
        scope = None if path is None else self._domain.get_scope(path)
        # Threads of two processes may share a name.
        name = distinct(name, self._stream_names)
        self._stream_names.add(name)
        stream = self._session.create_stream(
            name, domain=self._domain, scope=scope, time_domain_id=self._clock
        )
        return self._open.enter_context(stream)
