# SPDX-License-Identifier: Apache-2.0
"""Tables of any kind as named columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nvtx_replay._column import Column, read_column
from nvtx_replay.errors import TableError


@dataclass(frozen=True)
class Table:
    """Columns of one length, by name and in order."""

    columns: Mapping[str, Column]
    rows: int

    def column(self, name: str, purpose: str) -> Column:
        """Return the column that plays a part, or refuse the table."""
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns)) or "none"
            raise TableError(
                f"the table has no column {name!r} for {purpose}; it has {known}. Pass "
                f"{purpose}= the name of a column"
            )
        return self.columns[name]

    def rest(self, used: Iterable[str]) -> list[str]:
        """Return the names of the columns that are not in use."""
        taken = set(used)
        return [name for name in self.columns if name not in taken]


def read_table(table: Any) -> Table:
    """Return the columns of a dict, a structured array or a frame of pandas, Arrow or Polars.

    Raises
    ------
    TableError
        If it is none of these, names a column twice or has columns of different lengths.
    """
    pairs = list(_pairs(table))
    columns: dict[str, Column] = {}
    for name, data in pairs:
        if not isinstance(name, str):
            raise TableError(f"column name {name!r} is not a str; rename the column")
        if name in columns:
            raise TableError(f"two columns are named {name!r}; rename one of them")
        columns[name] = read_column(name, data)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise TableError(f"columns differ in length: {lengths}; expected one value a row in each")
    return Table(columns, next(iter(lengths.values()), 0))


def is_table(data: Any) -> bool:
    """Say whether data is something that :func:`read_table` reads."""
    if isinstance(data, np.ndarray):
        return data.dtype.names is not None
    return isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__") or _is_frame(data)


def _is_frame(data: Any) -> bool:
    library = type(data).__module__.partition(".")[0]
    return library in ("pandas", "polars", "pyarrow") and hasattr(data, "columns")


def _pairs(table: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(table, Mapping):
        return table.items()
    if isinstance(table, np.ndarray):
        return _fields(table)
    library = type(table).__module__.partition(".")[0]
    if library == "pandas" and hasattr(table, "columns"):
        return ((name, table.iloc[:, at]) for at, name in enumerate(table.columns))
    if library == "polars" and hasattr(table, "get_columns"):
        return ((series.name, series) for series in table.get_columns())
    if library == "pyarrow" and hasattr(table, "column_names"):
        return zip(table.column_names, table.columns, strict=True)
    if hasattr(table, "__arrow_c_stream__"):
        return _pairs(_arrow_table(table))
    raise TableError(
        f"the table is of type {type(table).__name__}; expected a dict of columns, a structured "
        "NumPy array, a pandas DataFrame, an Arrow table or a Polars DataFrame"
    )


def _fields(table: np.ndarray[Any, Any]) -> Sequence[tuple[str, Any]]:
    if table.dtype.names is None or table.ndim != 1:
        raise TableError(
            f"the array has dtype {table.dtype} and {table.ndim} dimensions; expected a "
            "one-dimensional array with named fields"
        )
    return [(name, table[name]) for name in table.dtype.names]


def _arrow_table(table: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise TableError(
            f"the table ({type(table).__name__}) speaks Arrow; install pyarrow to hand it over"
        ) from error
    return pa.table(table)
