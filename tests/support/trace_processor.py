# SPDX-License-Identifier: Apache-2.0
"""SQL over a trace, answered by the real Perfetto trace processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from support.engine import Engine, EngineError

Cell: TypeAlias = int | float | str | bytes | None
_CHUNK_BYTES = 8 << 20
# The engine files some outright refusals as mere information, so those are picked by name.
_REFUSALS = ("error", "failed", "skipped", "discarded", "dropped", "without_start")

__all__ = ["EngineError", "ImportRefusedError", "TraceProcessor"]


class ImportRefusedError(EngineError):
    """The trace processor would not read the trace."""


class TraceProcessor:
    """One engine, on which traces are loaded one after the other.

    Starting node costs about 0.4 s, so tests share an engine: `load` forgets the trace before.
    """

    def __init__(self) -> None:
        self._rpc = _rpc_class()
        self._sequence = 0
        self._engine = Engine()

    def __enter__(self) -> TraceProcessor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine."""
        self._engine.close()

    def load(self, path: str | Path) -> None:
        """Read a whole trace, in place of the one before; raises `ImportRefusedError`."""
        self._call(self._rpc.TPM_RESET_TRACE_PROCESSOR)
        append = self._rpc.TPM_APPEND_TRACE_DATA
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                reply = self._call(append, _setter("append_trace_data", chunk))
                _refuse(reply.append_result.error)
        reply = self._call(self._rpc.TPM_FINALIZE_TRACE_DATA)
        _refuse(reply.finalize_data_result.error)

    def query(self, sql: str) -> list[dict[str, Cell]]:
        """Run SQL; give one dict a row, keyed by column name."""
        method = self._rpc.TPM_QUERY_STREAMING

        def fill(message: Any) -> None:
            message.query_args.sql_query = sql

        result = self._call(method, fill).query_result
        names: list[str] = []
        rows: list[dict[str, Cell]] = []
        while True:
            if result.error:
                raise EngineError(f"{result.error}\nin: {sql}")
            names = names or list(result.column_names)
            for batch in result.batch:
                rows += (dict(zip(names, row, strict=True)) for row in _rows(batch, len(names)))
            if result.batch and result.batch[-1].is_last_batch:
                return rows
            result = self._receive(method).query_result

    def problems(self) -> dict[str, int]:
        """Import statistics that mean trouble, as name (with index) to count."""
        named = " or ".join(f"name glob '*{word}*'" for word in _REFUSALS)
        rows: list[Any] = self.query(
            "select name, idx, value from stats where value > 0 "
            f"and (severity in ('error', 'data_loss') or severity = 'info' and ({named}))"
        )
        return {
            row["name"] + ("" if row["idx"] is None else f"[{row['idx']}]"): row["value"]
            for row in rows
        }

    def log(self) -> str:
        """What the engine logged so far."""
        return self._engine.log()

    def _call(self, method: int, fill: Callable[[Any], None] | None = None) -> Any:
        message = self._rpc(seq=self._sequence, request=method)
        self._sequence += 1
        if fill is not None:
            fill(message)
        self._engine.send(message.SerializeToString())
        return self._receive(method)

    def _receive(self, method: int) -> Any:
        message = self._rpc.FromString(self._engine.receive())
        if message.fatal_error:
            raise EngineError(message.fatal_error)
        if message.invalid_request:
            raise EngineError(f"this trace processor does not know method {method}")
        if message.response != method:
            raise EngineError(f"asked for {method}, got a reply to {message.response}")
        return message


def _setter(field: str, value: object) -> Callable[[Any], None]:
    return lambda message: setattr(message, field, value)


def _refuse(error: str) -> None:
    if error:
        raise ImportRefusedError(error)


@cache
def _rpc_class() -> Any:
    import perfetto.trace_processor as package
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    path = Path(str(package.__file__)).with_name("trace_processor.descriptor")
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file:
        pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpc")
    )


def _rows(batch: Any, width: int) -> Iterator[tuple[Cell, ...]]:
    """Cut one batch, whose values lie apart by type, into rows."""
    text = batch.string_cells
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    sources: dict[int, Iterator[Cell]] = {
        batch.CELL_VARINT: iter(batch.varint_cells),
        batch.CELL_FLOAT64: iter(batch.float64_cells),
        batch.CELL_STRING: iter(text.split("\0")),
        batch.CELL_BLOB: iter(batch.blob_cells),
    }
    cells = [None if kind == batch.CELL_NULL else next(sources[kind]) for kind in batch.cells]
    for at in range(0, len(cells), width or 1):
        yield tuple(cells[at : at + width])
