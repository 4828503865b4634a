# SPDX-License-Identifier: Apache-2.0
"""All samples as one table of columns, and its forms: pandas, Arrow, Parquet, CSV."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import SinkError
from .samples import Samples

_CLOCK_NOTE = "CLOCK_REALTIME in ns, derived from CLOCK_MONOTONIC by the offset at start"


@dataclass(frozen=True)
class Column:
    """One counter: its values, where they are known, and the unit."""

    unit: str
    values: npt.NDArray[Any]
    valid: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Table:
    """Rows ordered by time; a row is one read of one group, other groups' columns are unknown.

    Attributes
    ----------
    time, monotonic, error : int64 array, shape (n,)
        ns, as in :class:`Samples`.
    gap : list of (str or None), length n
        ``group: reason`` where a row has no values.
    columns : mapping of str to Column
        By name ``group.field``.
    """

    time: npt.NDArray[np.int64]
    monotonic: npt.NDArray[np.int64]
    error: npt.NDArray[np.int64]
    gap: list[str | None]
    columns: Mapping[str, Column]

    @classmethod
    def of(cls, groups: Sequence[Samples]) -> Table:
        """Put groups into one table."""
        empty = np.zeros(0, np.int64)
        time = np.concatenate([empty, *(group.time for group in groups)])
        order = np.argsort(time, kind="stable")
        gaps = [why and f"{group.name}: {why}" for group in groups for why in group.gap]
        return cls(
            time=time[order],
            monotonic=np.concatenate([empty, *(group.monotonic for group in groups)])[order],
            error=np.concatenate([empty, *(group.error for group in groups)])[order],
            gap=[gaps[at] for at in order],
            columns=_columns(groups, order),
        )

    def __len__(self) -> int:
        return len(self.time)

    def to_frame(self) -> Any:
        """Return a ``pandas.DataFrame``: ``time``, ``monotonic``, ``error``, ``gap``, counters.

        Counters are nullable columns (``Int64``, ``Float64``), so that bytes stay exact and
        unknown is ``<NA>``; units are in ``frame.attrs["units"]``.
        """
        pandas = _optional("pandas", "pandas")
        data: dict[str, Any] = {
            "time": self.time,
            "monotonic": self.monotonic,
            "error": self.error,
            "gap": pandas.array(self.gap, dtype="string"),
        }
        for name, column in self.columns.items():
            kind = pandas.arrays.FloatingArray
            if column.values.dtype.kind != "f":
                kind = pandas.arrays.IntegerArray
            values = column.values.copy()
            if values.dtype == np.float16:  # pandas has no nullable half precision
                values = values.astype(np.float32)
            data[name] = kind(values, ~column.valid)
        frame = pandas.DataFrame(data)
        frame.attrs["units"] = {name: column.unit for name, column in self.columns.items()}
        return frame

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``; each counter's field has its ``unit`` as metadata."""
        arrow = _optional("pyarrow", "parquet")
        times = {"time": self.time, "monotonic": self.monotonic, "error": self.error}
        fields = [arrow.field(name, arrow.int64(), metadata={"unit": "ns"}) for name in times]
        arrays = [arrow.array(column) for column in times.values()]
        fields.append(arrow.field("gap", arrow.string()))
        arrays.append(arrow.array(self.gap, arrow.string()))
        for name, column in self.columns.items():
            array = arrow.array(column.values, mask=~column.valid)
            fields.append(arrow.field(name, array.type, metadata={"unit": column.unit}))
            arrays.append(array)
        schema = arrow.schema(fields, metadata={"time": _CLOCK_NOTE})
        return arrow.Table.from_arrays(arrays, schema=schema)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file; the file appears whole or not at all."""
        table = self.to_arrow()
        parquet = _optional("pyarrow.parquet", "parquet")
        with _whole(path) as part:
            parquet.write_table(table, part)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file: units in brackets in the header, empty where unknown.

        The file appears whole or not at all.
        """
        units = [f"{name} [{c.unit}]" if c.unit else name for name, c in self.columns.items()]
        header = ["time [ns]", "monotonic [ns]", "error [ns]", "gap", *units]
        with _whole(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(self._text_rows())

    def _text_rows(self) -> Iterator[list[Any]]:
        cells = [
            [
                value if known else ""
                for value, known in zip(c.values.tolist(), c.valid, strict=True)
            ]
            for c in self.columns.values()
        ]
        times = zip(self.time.tolist(), self.monotonic.tolist(), self.error.tolist(), strict=True)
        for at, stamps in enumerate(times):
            yield [*stamps, self.gap[at] or "", *(column[at] for column in cells)]


def _columns(groups: Sequence[Samples], order: npt.NDArray[np.intp]) -> dict[str, Column]:
    columns, first = {}, 0
    for group in groups:
        rows = slice(first, first + len(group))
        for field, own in group.values.items():
            values = np.zeros(len(order), own.dtype)
            valid = np.zeros(len(order), np.bool_)
            values[rows], valid[rows] = own, group.valid[field]
            columns[f"{group.name}.{field}"] = Column(
                group.unit(field), values[order], valid[order]
            )
        first += len(group)
    return columns


def _optional(module: str, extra: str) -> Any:
    try:
        return __import__(module, fromlist=["_"])
    except ImportError as error:
        raise SinkError(
            f"this form needs {module}: pip install nvtx-torch-counters[{extra}]"
        ) from error


@contextmanager
def _whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file beside `path` that takes its place at the end, or goes on an error."""
    target = Path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
