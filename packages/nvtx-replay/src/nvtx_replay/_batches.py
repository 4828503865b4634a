# SPDX-License-Identifier: Apache-2.0
"""Rows and samples of a stream, checked before they reach the backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import nvtx.writer
import nvtx_schema as nvs
from nvtx import BatchOrdering

from nvtx_replay._clock import exact_time
from nvtx_replay._column import Array, read_column
from nvtx_replay._counter_values import counter_values, time_field
from nvtx_replay._event_row import EventRow
from nvtx_replay._faults import Faults
from nvtx_replay._ordering import is_sorted
from nvtx_replay._roles import COMPLETE_KINDS
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._schema_rows import Form, columns_of, pack_checked
from nvtx_replay._single import SingleEvents, StreamSetup
from nvtx_replay._spans import check_promise, ends_not_before
from nvtx_replay._times import Times, times_of
from nvtx_replay.errors import TableError

if TYPE_CHECKING:
    from nvtx_replay.batch import Batch

_MAX_KNOWN = 4096


@dataclass
class _Known:
    """What a stream keeps of a schema; it holds the schema, so that its id stays its own."""

    schema: Any
    form: Form
    row: EventRow
    raw: Any = None


class Batches(SingleEvents):
    """The part of a stream that writes rows of a schema and samples of a counter."""

    def __init__(self, setup: StreamSetup) -> None:
        super().__init__(setup)
        self.dates = setup.dates
        self._counters = setup.counters
        self._known: dict[int, _Known] = {}
        self._batches: list[Batch] = []

    @property
    def faults(self) -> Faults:
        """The stream's way of handling faults."""
        return self._faults

    def forget(self, batch: Batch) -> None:
        """Take a batch off the list of those to be written when the stream closes."""
        if batch in self._batches:
            self._batches.remove(batch)

    def register(self, schema: Any) -> Any:
        """Return the ``nvtx.writer.Schema`` of a schema, registered in the stream's domain.

        Parameters
        ----------
        schema : nvtx_schema.Schema or nvtx.writer.Schema
            The latter is returned as it is.
        """
        if isinstance(schema, nvtx.writer.Schema):
            return schema
        known = self._known.get(id(schema))
        if known is None or known.raw is None:
            known = self._look_up(schema)
            known.raw = self._domain.get_schema(schema.dtype, kind=schema.kind)
        return known.raw

    def form(self, schema: Any) -> Form:
        """Return a schema as :mod:`nvtx_schema` and as NumPy see it."""
        return self._look_up(schema).form

    def _look_up(self, schema: Any) -> _Known:
        """Return what is known of a schema, by identity: hashing one costs more than a row."""
        known = self._known.get(id(schema))
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            form = Form.of(schema)
            known = _Known(schema, form, EventRow(form, self._strings))
            self._known[id(schema)] = known
        return known

    def write_event(self, schema: Any, row: Any) -> None:
        """Write one event of any kind, described by a schema.

        Parameters
        ----------
        schema : nvtx_schema.Schema or nvtx.writer.Schema
            The layout of the row.
        row : tuple, mapping or numpy.void
            The fields' values, in order or by name; text for registered strings too.

        Raises
        ------
        RowError
            As for the single events of that kind.
        TableError
            If a value does not fit its field.
        """
        known = self._known.get(id(schema)) or self._look_up(schema)
        checked = known.row.checked(row, self._faults, self._promise, self._open)
        if checked is not None:
            with self._opened.explained():
                self._raw.write_event(self.register(schema), checked)

    def write_event_batch(
        self, schema: Any, rows: Any, *, ordering: BatchOrdering | None = None
    ) -> None:
        """Write complete events, described by a schema.

        Parameters
        ----------
        schema : nvtx_schema.Schema or nvtx.writer.Schema
            A schema of marks or of complete ranges.
        rows : numpy.ndarray, table or iterable of tuples
            An array of the schema's dtype goes to the backend as it is, without a copy. Columns
            of tables are matched to fields by name and converted exactly, or refused. No rows
            are no fault.
        ordering : nvtx.BatchOrdering, optional
            What to promise about the order of the rows. By default SORTED if they are found to
            be sorted by begin, else UNSORTED.

        Raises
        ------
        RowError
            If timestamps are floats or missing, ranges end before they begin, text is longer
            than its field, or the order is not as promised.
        TableError
            If a column is missing, unknown, or does not fit its field.
        BackendError
            If the backend fails.
        """
        form = self.form(schema)
        if form.schema.kind not in COMPLETE_KINDS:
            raise TableError(
                f"a schema of kind {form.schema.kind_name!r} goes one by one, by write_event or "
                "by batch(); batches hold marks and complete ranges"
            )
        if type(rows) is np.ndarray and rows.dtype == form.dtype and rows.ndim == 1:
            packed, begins, ends = self._ready(form, rows)
        else:
            columns, count = columns_of(form, rows)
            checks = RowFaults(self._faults, count)
            packed, begins, ends = pack_checked(
                form, columns, checks, self._strings, dates=self.dates
            )
        self._send(schema, packed, (begins, ends), ordering)

    def write_columns(
        self, schema: Any, columns: Mapping[str, Any], count: int, first: int = 0
    ) -> None:
        """Write complete events given as columns by field name.

        Parameters
        ----------
        schema : nvtx_schema.Schema or nvtx.writer.Schema
            As in :meth:`write_event_batch`.
        columns : mapping
            Lists or arrays of ``count`` values.
        count : int
            The number of rows.
        first : int, optional
            The number of the first row, for errors.
        """
        checks = RowFaults(self._faults, count, first)
        form = self.form(schema)
        rows, begins, ends = pack_checked(form, columns, checks, self._strings, dates=self.dates)
        self._send(schema, rows, (begins, ends))

    def _ready(self, form: Form, rows: Array) -> tuple[Array, Times, Times]:
        """Check an array that has the schema's own layout."""
        checks = RowFaults(self._faults, len(rows))
        begin, end = form.roles.begin or "", form.roles.end
        begins = times_of(read_column(begin, rows[begin]), checks, dates=False)
        ends = begins
        if end is not None:
            given = times_of(read_column(end, rows[end]), checks, dates=False)
            ends = ends_not_before(begins, given, checks)
            if ends is not given:
                rows = rows.copy()
                rows[end] = ends
        if checks.keep.all():
            return rows, begins, ends
        return rows[checks.keep], begins[checks.keep], ends[checks.keep]

    def _send(
        self,
        schema: Any,
        rows: Array,
        times: tuple[Times, Times],
        ordering: BatchOrdering | None = None,
    ) -> None:
        """Write rows that were checked, but for their order."""
        checks = RowFaults(self._faults, len(rows))
        check_promise(self._promise, *times, checks)
        claim = _claim(times[0], ordering, checks)
        if not checks.keep.all():
            rows = rows[checks.keep]
        if len(rows):
            with self._opened.explained():
                self._raw.write_event_batch(self.register(schema), rows, ordering=claim)

    def write_counter_sample(self, counter: Any, timestamp: int, value: Any) -> None:
        """Write one sample of a counter; timestamps are checked as in :meth:`write_mark`."""
        time = exact_time(timestamp, self._faults)
        if time is not None and self._promise.keeps(time):
            self._call(self._raw.write_counter_sample, counter, time, value)

    def write_counter_sample_no_value(self, counter: Any, timestamp: int, reason: Any) -> None:
        """Write one sample of a counter that has no value, and why."""
        time = exact_time(timestamp, self._faults)
        if time is not None and self._promise.keeps(time):
            self._call(self._raw.write_counter_sample_no_value, counter, time, reason)

    def write_counter_batch(
        self,
        counter: Any,
        data: Any,
        *,
        timestamps: Any = None,
        ordering: BatchOrdering | None = None,
    ) -> None:
        """Write samples of a counter.

        Parameters
        ----------
        counter : nvtx.writer.Counter
            A counter or counter group of the stream's domain.
        data : numpy.ndarray, list or table
            The values: numbers, or rows of the group's dtype. None are no fault.
        timestamps : array-like of int, optional
            One a sample, unless the group's dtype has a timestamp of its own.
        ordering : nvtx.BatchOrdering, optional
            As in :meth:`write_event_batch`.

        Raises
        ------
        RowError
            If timestamps are floats or missing, or the order is not as promised.
        TableError
            If values do not fit the counter, or lengths differ.
        """
        values = counter_values(counter, data)
        checks = RowFaults(self._faults, len(values))
        embedded = time_field(counter)
        given = values[embedded] if embedded else _given(timestamps, len(values))
        times = times_of(read_column("timestamps", given), checks, dates=self.dates)
        check_promise(self._promise, times, times, checks)
        claim = _claim(times, ordering, checks)
        if not checks.keep.all():
            values, times = values[checks.keep], times[checks.keep]
        if len(values):
            with self._opened.explained():
                self._raw.write_counter_batch(
                    counter, values, timestamps=None if embedded else times, ordering=claim
                )

    def _end_open(self, scopes: list[int], ids: list[int]) -> None:
        """End ranges at the last time that the stream has seen."""
        time = self._open.last_time
        for scope in scopes:
            if scope:
                pop = nvs.Schema("pop", {"time": nvs.range_end(), "scope": nvs.scope_id()})
                self._call(self._raw.write_event, self.register(pop), (time, scope))
            else:
                self._call(self._raw.write_pop, time)
        for range_id in ids:
            self._call(self._raw.write_end, time, range_id)


def _given(timestamps: Any, count: int) -> Any:
    if timestamps is None:
        raise TableError("timestamps are missing; pass one a sample as timestamps=")
    given = timestamps if hasattr(timestamps, "__len__") else list(timestamps)
    if len(given) != count:
        raise TableError(f"there are {len(given)} timestamps for {count} samples")
    return given


def _claim(times: Times, ordering: BatchOrdering | None, checks: RowFaults) -> BatchOrdering:
    """Return what to promise: what was asked for if it is true, else what is."""
    if ordering is not None and not isinstance(ordering, BatchOrdering):
        raise TypeError(f"ordering is {ordering!r}; expected an nvtx.BatchOrdering or None")
    if ordering is None:
        kept = times[checks.keep]
        return BatchOrdering.SORTED if is_sorted(kept) else BatchOrdering.UNSORTED
    if ordering is not BatchOrdering.SORTED:
        return ordering
    late = np.concatenate(([False], times[1:] < np.maximum.accumulate(times)[:-1]))
    repaired = checks.check(
        "broken_order",
        late[: len(times)],
        lambda row: (
            f"has the time {times[row]}, lower than one before it, in a batch promised "
            "as SORTED; leave ordering out to have the rows looked at"
        ),
    )
    return BatchOrdering.UNSORTED if repaired.any() else ordering
