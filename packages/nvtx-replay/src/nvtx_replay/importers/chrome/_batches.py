# SPDX-License-Identifier: Apache-2.0
"""Rows gathered by stream and layout, and written in batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from nvtx import BatchOrdering, CounterNoValueReason

from nvtx_replay.importers.chrome._layout import Layout, dtype_of

MAX_ROWS = 65_536
"""Rows that wait, over all streams."""

MAX_BYTES = 32 << 20
"""What they take once they are written, which tells rows with wide texts from others."""

_BATCH_ROWS = 8_192
_BATCH_BYTES = 16 << 20


@dataclass
class _Waiting:
    """Rows of one stream and layout.

    ``size`` is the bytes of a row as it is written, and ``limit`` how many make a batch.
    """

    schema: Any
    size: int
    limit: int
    rows: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass
class StreamRows:
    """What waits for one stream.

    ``places`` tells, by (begin, end), in which batch the last row of that place was put: of rows in
    one place the first in the file has to be written first.
    """

    stream: Any
    by_layout: dict[Layout, _Waiting] = field(default_factory=dict)
    places: dict[tuple[int, int], _Waiting] = field(default_factory=dict)


class EventBatches:
    """Gather event rows; what is written is never claimed to be sorted, the backend sorts.

    Parameters
    ----------
    domain : nvtx.writer.Domain
        Where layouts are registered, each once.
    """

    def __init__(self, domain: Any) -> None:
        self._domain = domain
        self._schemas: dict[Layout, Any] = {}
        self._streams: list[StreamRows] = []
        self._count = 0
        self._bytes = 0

    def open(self, stream: Any) -> StreamRows:
        """Return where the rows of an open stream wait."""
        self._streams.append(StreamRows(stream))
        return self._streams[-1]

    def add(self, into: StreamRows, layout: Layout, row: tuple[Any, ...]) -> None:
        """Add a row, which begins with its times."""
        waiting = into.by_layout.get(layout)
        if waiting is None:
            waiting = into.by_layout[layout] = self._waiting(layout)
        place = row[0], row[0 if layout.is_mark else 1]
        earlier = into.places.setdefault(place, waiting)
        if earlier is not waiting:
            self._write(into.stream, earlier)
            into.places[place] = waiting
        waiting.rows.append(row)
        self._count += 1
        self._bytes += waiting.size
        if len(waiting.rows) >= waiting.limit:
            self._write(into.stream, waiting)
        many = self._count >= MAX_ROWS or self._bytes >= MAX_BYTES
        if many or len(into.places) >= MAX_ROWS:
            self.flush()

    def write_half(self, into: StreamRows, layout: Layout, row: tuple[Any, ...]) -> None:
        """Write the begin of a range that never ended; batches hold whole events only."""
        schema = self._schema(layout)
        into.stream.write_event(schema, np.array([row], schema.dtype))

    def flush(self) -> None:
        """Write all that waits."""
        for into in self._streams:
            for waiting in into.by_layout.values():
                self._write(into.stream, waiting)
            into.places.clear()

    def _write(self, stream: Any, waiting: _Waiting) -> None:
        if waiting.rows:
            rows = np.array(waiting.rows, waiting.schema.dtype)
            stream.write_event_batch(waiting.schema, rows, ordering=BatchOrdering.UNSORTED)
            self._count -= len(waiting.rows)
            self._bytes -= len(waiting.rows) * waiting.size
            waiting.rows.clear()

    def _waiting(self, layout: Layout) -> _Waiting:
        schema = self._schema(layout)
        size = schema.dtype.itemsize
        return _Waiting(schema, size, max(1, min(_BATCH_ROWS, _BATCH_BYTES // size)))

    def _schema(self, layout: Layout) -> Any:
        schema = self._schemas.get(layout)
        if schema is None:
            schema = self._domain.get_schema(dtype_of(layout), kind=layout.event)
            self._schemas[layout] = schema
        return schema


class SampleBatches:
    """Gather the samples of counters; gaps are written one by one, as samples without a value."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Any, list[int], list[float]]] = {}
        self._count = 0

    def add(self, stream: Any, counter: Any, time: int, value: float | None) -> None:
        """Add one sample; all calls for one counter name the same stream."""
        if value is None:
            reason = CounterNoValueReason.UNAVAILABLE
            stream.write_counter_sample_no_value(counter, time, reason)
            return
        _, times, values = self._waiting.setdefault(counter.counter_id, (counter, [], []))
        times.append(time)
        values.append(value)
        self._count += 1
        if self._count >= MAX_ROWS:
            self.flush(stream)

    def flush(self, stream: Any) -> None:
        """Write all that waits."""
        for counter, times, values in self._waiting.values():
            data = np.array(values, counter.dtype)
            stamps = np.array(times, np.int64)
            stream.write_counter_batch(
                counter, data, timestamps=stamps, ordering=BatchOrdering.UNSORTED
            )
        self._waiting.clear()
        self._count = 0
