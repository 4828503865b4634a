# SPDX-License-Identifier: Apache-2.0
"""Values of counters as arrays of the counter's own dtype, exactly or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import nvtx_schema as nvs

from nvtx_replay._column import Array, Column, read_column
from nvtx_replay._packing import refused
from nvtx_replay._roles import roles_of
from nvtx_replay._table import is_table, read_table
from nvtx_replay.errors import TableError


def counter_values(counter: Any, data: Any) -> Array:
    """Return samples in the dtype of a counter.

    Raises
    ------
    TableError
        If a value is missing or cannot be held exactly.
    """
    dtype = _dtype_of(counter)
    if isinstance(data, np.ndarray) and data.dtype == dtype:
        return data
    if dtype.names is not None:
        return _group_values(dtype, data)
    column = read_column(f"of counter {counter.name!r}", data)
    if column.nulls is not None:
        row = int(column.nulls.argmax())
        raise TableError(
            f"counter {counter.name!r} has no value in row {row}; use write_counters, which "
            "makes gaps of missing values, or write_counter_sample_no_value"
        )
    return exact_cast(column, dtype, f"counter {counter.name!r}")


def time_field(counter: Any) -> str | None:
    """Return the name of a counter group's own timestamp field."""
    dtype = _dtype_of(counter)
    return None if dtype.names is None else roles_of(dtype).counter_time


def exact_cast(column: Column, dtype: Any, what: str) -> Array:
    """Return a column in another number type, refusing what that would change."""
    values = column.values
    if values.dtype == dtype:
        return values
    if not len(values):
        return np.zeros(0, dtype=dtype)
    if values.dtype.kind not in "biuf" or (values.dtype.kind == "f" and dtype.kind != "f"):
        raise TableError(
            f"{what} is given values of dtype {values.dtype}; expected what {dtype} holds exactly"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        cast = values.astype(dtype)
        wrong = _changed(values, cast)
    if wrong.any():
        row = int(wrong.argmax())
        raise TableError(f"{what} cannot hold {values[row]} (row {row}) in dtype {dtype}")
    return cast


def _changed(values: Array, cast: Array) -> Array:
    """Say where a cast changed a value; comparing int with uint or float would round."""
    if values.dtype.kind == "f":
        return np.asarray((cast != values) & ~np.isnan(values))
    back = cast.astype(values.dtype)
    sign = (values < 0) != (cast < 0)
    edge = cast >= 2.0**63 if cast.dtype.kind == "f" else np.zeros(len(cast), dtype=bool)
    return np.asarray((back != values) | sign | edge)


def _dtype_of(counter: Any) -> Any:
    plain = {int: np.dtype(np.int64), float: np.dtype(np.float64)}
    return plain[counter.dtype] if isinstance(counter.dtype, type) else counter.dtype


def _group_values(dtype: Any, data: Any) -> Array:
    if is_table(data):
        table = read_table(data)
        columns: dict[str, Any] = {name: column.values for name, column in table.columns.items()}
        for name, column in table.columns.items():
            if column.nulls is not None:
                raise TableError(f"counter field {name!r} has missing values; fill or drop them")
    else:
        entries = [tuple(entry) for entry in data]
        columns = {n: [entry[at] for entry in entries] for at, n in enumerate(dtype.names)}
    with refused():
        return nvs.Schema.from_dtype("counter", dtype).pack(columns, order="any")
