# SPDX-License-Identifier: Apache-2.0
"""Rows and samples of a stream, checked before they reach the backend."""

from __future__ import annotations

from typing import Any

import nvtx.writer
from nvtx import BatchOrdering

from nvtx_replay._single import SingleEvents


class Batches(SingleEvents):
    """The part of a stream that writes rows of a schema and samples of a counter."""

    def write_event(self, schema: Any, row: Any) -> None:
        """Write one event of any kind, described by a schema."""
        self._raw.write_event(self.register(schema), row)

    def write_event_batch(
        self, schema: Any, rows: Any, *, ordering: BatchOrdering | None = None
    ) -> None:
        """Write complete events, described by a schema."""
        with self._opened.explained():
            self._raw.write_event_batch(
                self.register(schema), rows, ordering=ordering or BatchOrdering.UNSORTED
            )

    def write_counter_sample(self, counter: Any, timestamp: int, value: Any) -> None:
        """Write one sample of a counter."""
        self._raw.write_counter_sample(counter, timestamp, value)

    def write_counter_sample_no_value(self, counter: Any, timestamp: int, reason: Any) -> None:
        """Write one sample of a counter that has no value."""
        self._raw.write_counter_sample_no_value(counter, timestamp, reason)

    def write_counter_batch(
        self,
        counter: Any,
        data: Any,
        *,
        timestamps: Any = None,
        ordering: BatchOrdering | None = None,
    ) -> None:
        """Write samples of a counter."""
        with self._opened.explained():
            self._raw.write_counter_batch(
                counter, data, timestamps=timestamps, ordering=ordering or BatchOrdering.UNSORTED
            )

    def register(self, schema: Any) -> Any:
        """Return the ``nvtx.writer.Schema`` of a schema, registered in the stream's domain.

        Parameters
        ----------
        schema : nvtx_schema.Schema or nvtx.writer.Schema
            The latter is returned as it is.
        """
        if isinstance(schema, nvtx.writer.Schema):
            return schema
        return self._domain.get_schema(schema.dtype, kind=schema.kind)

    def _end_open(self, scopes: list[int], ids: list[int]) -> None:
        """End ranges at the last time that the stream has seen."""
        time = self._open.last_time
        for _ in scopes:
            self._raw.write_pop(time)
        for range_id in ids:
            self._raw.write_end(time, range_id)
