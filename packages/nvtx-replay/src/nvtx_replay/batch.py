# SPDX-License-Identifier: Apache-2.0
"""Rows that come one by one and are written together."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from nvtx_replay._roles import COMPLETE_KINDS
from nvtx_replay.errors import ConfigError, TableError

if TYPE_CHECKING:
    from nvtx_replay._batches import Batches


class Batch:
    """Collects rows of one schema and writes them in batches.

    Made by :meth:`nvtx_replay.Stream.batch`. Rows are checked when they are written, so that an
    error may name a row that was appended earlier; rows are numbered from the batch's first.
    Not for use from several threads at once.

    Examples
    --------
    >>> with stream.batch(schema) as batch:                         # doctest: +SKIP
    ...     batch.append(start=100, end=250, message="GET /", items=3)
    """

    def __init__(self, stream: Batches, schema: Any, rows: int) -> None:
        if rows < 1:
            raise ConfigError(f"rows is {rows}; expected at least 1")
        self._stream = stream
        self._schema = schema
        self._limit = rows
        form = stream.form(schema)
        self._names = frozenset(form.schema.names)
        self._together = form.schema.kind in COMPLETE_KINDS
        self._rows: list[dict[str, Any]] = []
        self._written = 0

    def append(self, **fields: Any) -> None:
        """Add a row.

        Parameters
        ----------
        **fields
            A value for every field of the schema; text for registered strings and categories
            too. A field whose name is no Python name goes as ``**{"nvtx.flow_out": 7}``.

        Raises
        ------
        TableError
            If a field is missing or unknown. Values are checked when the rows are written.
        """
        if fields.keys() != self._names:
            missing, unknown = self._names - fields.keys(), fields.keys() - self._names
            raise TableError(
                f"row {self._written + len(self._rows)} lacks {sorted(missing)} and has the "
                f"unknown {sorted(unknown)}; expected {sorted(self._names)}"
            )
        if not self._together:
            self._stream.write_event(self._schema, fields)
            self._written += 1
            return
        self._rows.append(fields)
        if len(self._rows) >= self._limit:
            self.flush()

    def flush(self) -> None:
        """Write the rows that wait; without any it does nothing.

        Raises
        ------
        RowError, TableError, BackendError
            As in :meth:`nvtx_replay.Stream.write_event_batch`. The rows that waited are dropped.
        """
        rows, first = self._rows, self._written
        if not rows:
            return
        self._rows = []
        self._written += len(rows)
        columns = {name: [row[name] for row in rows] for name in self._names}
        self._stream.write_columns(self._schema, columns, len(rows), first)

    @property
    def waiting(self) -> int:
        """How many rows wait to be written."""
        return len(self._rows)

    def close(self) -> None:
        """Write the rows that wait; the stream then forgets the batch.

        A batch that is not closed is written when its stream closes.
        """
        self._stream.forget(self)
        self.flush()

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
