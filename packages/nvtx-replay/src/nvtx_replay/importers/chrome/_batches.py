# SPDX-License-Identifier: Apache-2.0
"""Rows gathered by stream and layout, and written in batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from nvtx import BatchOrdering, CounterNoValueReason, EventKind

from nvtx_replay.importers.chrome._layout import Layout, dtype_of

MAX_ROWS = 65_536
"""Rows that wait, over all streams."""

_BATCH_ROWS = 8_192
_BATCH_BYTES = 16 << 20
_COMPLETE = (EventKind.MARK, EventKind.RANGE_PUSHPOP, EventKind.RANGE_STARTEND)


@dataclass
class _Waiting:
    """Rows of one stream and layout; ``limit`` keeps rows with wide texts from filling memory."""

    schema: Any
    limit: int
    rows: list[tuple[Any, ...]] = field(default_factory=list)


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
        self._waiting: dict[tuple[int, int], tuple[Any, _Waiting]] = {}
        self._count = 0

    def add(self, stream: Any, layout: Layout, row: tuple[Any, ...]) -> None:
        """Add a row; halves of ranges are written at once, since batches hold whole events only."""
        # Streams and layouts live as long as the import, so their addresses are unique.
        key = id(stream), id(layout)
        if (found := self._waiting.get(key)) is None:
            schema = self._schema(layout)
            if layout.event not in _COMPLETE:
                stream.write_event(schema, np.array([row], schema.dtype))
                return
            limit = max(1, min(_BATCH_ROWS, _BATCH_BYTES // schema.dtype.itemsize))
            found = self._waiting[key] = stream, _Waiting(schema, limit)
        waiting = found[1]
        waiting.rows.append(row)
        self._count += 1
        if len(waiting.rows) >= waiting.limit:
            self._write(stream, waiting)
        elif self._count >= MAX_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write all that waits."""
        for stream, waiting in self._waiting.values():
            self._write(stream, waiting)
        self._waiting.clear()

    def _write(self, stream: Any, waiting: _Waiting) -> None:
        if waiting.rows:
            rows = np.array(waiting.rows, waiting.schema.dtype)
            stream.write_event_batch(waiting.schema, rows, ordering=BatchOrdering.UNSORTED)
            self._count -= len(waiting.rows)
            waiting.rows.clear()

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
