# SPDX-License-Identifier: Apache-2.0
"""Tables of events and samples, written to a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from nvtx import BatchOrdering

from nvtx_replay._batches import Batches
from nvtx_replay._column import Column
from nvtx_replay._counter_table import CounterTable, read_counters
from nvtx_replay._event_columns import EventColumns
from nvtx_replay._event_table import pack_events
from nvtx_replay._ordering import is_sorted
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._table import Table, read_table
from nvtx_replay.batch import Batch
from nvtx_replay.errors import ConfigError, StreamError

Payload: TypeAlias = "Literal['rest'] | Iterable[str] | None"


class Tables(Batches):
    """The part of a stream that writes whole tables."""

    def write_ranges(  # noqa: PLR0913 - its options are what users type, one a column
        self,
        table: Any,
        *,
        kind: Literal["pushpop", "startend"] = "pushpop",
        start: str = "start",
        end: str = "end",
        duration: str | None = None,
        message: str | None = "message",
        payload: Payload = "rest",
        category: str | int | None = None,
        color: str | int | None = None,
    ) -> int:
        """Write a table of ranges, one a row, in any order.

        Parameters
        ----------
        table : dict, numpy.ndarray, pandas.DataFrame, Arrow table or Polars frame
            The columns, of one length. No rows are no fault.
        kind : {"pushpop", "startend"}, optional
            Ranges that nest within the stream, or ranges that may cross.
        start, end : str, optional
            The columns of begin and end, int64 in the stream's time domain (ns for predefined
            clocks). Dates with a time zone may stand for them if the stream's is ``"realtime"``.
        duration : str, optional
            The column of the length, instead of ``end``.
        message : str or None, optional
            The column of the text, or None for ranges without text.
        payload : "rest", list of str or None, optional
            The columns that become payload fields: by default all that no other part uses. A row
            without a value leaves the field out.
        category, color : str or int, optional
            The column of category names or ids, and of colors (0xAARRGGBB or ``"#RRGGBB"``); or
            one id or color for all rows.

        Returns
        -------
        int
            The number of rows written.

        Raises
        ------
        RowError
            If timestamps are missing, floats or beyond int64, if ranges end before they begin, or
            if the stream's promise about order is broken; it names the rows. See ``on_error`` of
            :func:`nvtx_replay.open_session`.
        TableError
            If a column is missing or holds what its part cannot; nothing is written then.
        BackendError
            If the backend fails.

        Notes
        -----
        Text that repeats is registered in the domain once, at most 65,536 texts a domain; rare
        text travels in the row, at its full length. Rows of different layout go in batches of
        their own, each promised SORTED only if it is.
        """
        if kind not in ("pushpop", "startend"):
            raise ConfigError(f"kind is {kind!r}; expected 'pushpop' or 'startend'")
        columns = read_table(table)
        used = [start, duration if duration is not None else end, message, category, color]
        parts = EventColumns(
            kind=kind,
            begin=columns.column(start, "start"),
            end=columns.column(end, "end") if duration is None else None,
            duration=None if duration is None else columns.column(duration, "duration"),
            message=None if message is None else columns.column(message, "message"),
            category=_column_or_number(columns, category, "category"),
            color=_column_or_number(columns, color, "color"),
            payload=_payload(columns, payload, used),
        )
        return self._write_events(parts, columns.rows)

    def write_marks(
        self,
        table: Any,
        *,
        time: str = "time",
        message: str | None = "message",
        payload: Payload = "rest",
        category: str | int | None = None,
        color: str | int | None = None,
    ) -> int:
        """Write a table of marks, one a row, in any order.

        Parameters
        ----------
        table
            As in :meth:`write_ranges`.
        time : str, optional
            The column of timestamps, as ``start`` in :meth:`write_ranges`.
        message, payload, category, color
            As in :meth:`write_ranges`.

        Returns
        -------
        int
            The number of rows written.

        Raises
        ------
        RowError, TableError, BackendError
            As in :meth:`write_ranges`.
        """
        columns = read_table(table)
        parts = EventColumns(
            kind="mark",
            begin=columns.column(time, "time"),
            message=None if message is None else columns.column(message, "message"),
            category=_column_or_number(columns, category, "category"),
            color=_column_or_number(columns, color, "color"),
            payload=_payload(columns, payload, [time, message, category, color]),
        )
        return self._write_events(parts, columns.rows)

    def _write_events(self, parts: EventColumns, count: int) -> int:
        checks = RowFaults(self._faults, count)
        batches = pack_events(parts, checks, self._strings, self._promise, dates=self.dates)
        written = 0
        for batch in batches:
            rows = batch.rows
            # Not by register(), which keeps what callers hand over to be found by identity.
            schema = self._domain.get_schema(batch.schema.dtype, kind=batch.schema.kind)
            claim = BatchOrdering.SORTED if is_sorted(batch.begins) else BatchOrdering.UNSORTED
            with self._opened.explained():
                self._raw.write_event_batch(schema, rows, ordering=claim)
            written += len(rows)
        return written

    def write_counters(
        self,
        table: Any,
        *,
        time: str = "time",
        values: Payload = "rest",
        units: Mapping[str, str] | str | None = None,
        group: str | None = None,
        scope: Any = None,
    ) -> int:
        """Write a table of samples: a counter a column, a sample a row.

        Parameters
        ----------
        table
            As in :meth:`write_ranges`.
        time : str, optional
            The column of timestamps, as ``start`` in :meth:`write_ranges`.
        values : "rest" or list of str, optional
            The columns of values, by default all others. Integers are kept as 64-bit integers,
            floats as float64.
        units : mapping of str or str, optional
            The unit of each column, such as ``{"used": "bytes"}``, or one for all.
        group : str, optional
            Make one counter group of this name, a field a column, instead of counters that are
            independent of each other.
        scope : str, nvtx.writer.Scope, nvtx.PredefinedScope or int, optional
            Where the counters belong; by default the stream's scope.

        Returns
        -------
        int
            The number of samples written: values times rows, gaps included.

        Raises
        ------
        RowError
            If timestamps are missing, floats or beyond int64, or break the stream's promise.
        TableError
            If a column is missing or not numeric, or a counter of that name has another type or
            unit.
        StreamError
            If the stream promised an order and several counters would be written one after the
            other; pass ``group=``.

        Notes
        -----
        A missing value and NaN make a gap. In a group, integers with missing values are sent as
        float64 where that is exact.
        """
        columns = read_table(table)
        taken = columns.column(time, "time")
        chosen = _payload(columns, values, [time])
        counters = read_counters(chosen, units, group=group)
        if self._promise.active and len(counters) > 1:
            raise StreamError(
                f"{len(counters)} counters would be written one after the other, against the "
                f"stream's promise {self._promise.name!r}; pass group=, or make no promise"
            )
        target = self._domain.get_scope(scope) if isinstance(scope, str) else scope
        return CounterTable(self, self._counters, target).write(taken, counters, columns.rows)

    def batch(self, schema: Any, *, rows: int = 65_536) -> Batch:
        """Return a batch that takes rows one by one and writes them together.

        Parameters
        ----------
        schema : nvtx_schema.Schema or nvtx.writer.Schema
            The layout of the rows. Halves of ranges (push, pop, start, end) are written one by
            one, since backends take no batches of them.
        rows : int, optional
            After how many rows to write; closing the batch writes the rest.

        Returns
        -------
        Batch
            Use it in a ``with`` statement; one that is not closed is written when the stream
            closes.
        """
        batch = Batch(self, schema, rows)
        self._batches.append(batch)
        return batch


def _column_or_number(table: Table, given: str | int | None, part: str) -> Column | int | None:
    if isinstance(given, str):
        return table.column(given, part)
    if given is None or (type(given) is int and 0 <= given < 2**32):
        return given
    raise ConfigError(f"{part} is {given!r}; expected a column's name or an integer of 32 bits")


def _payload(table: Table, payload: Payload, used: Iterable[Any]) -> dict[str, Column]:
    if payload is None:
        return {}
    if isinstance(payload, str) and payload != "rest":
        raise ConfigError(f"payload is {payload!r}; expected 'rest', a list of columns or None")
    names = table.rest(used) if payload == "rest" else list(payload)
    return {name: table.column(name, "payload") for name in names}
