# SPDX-License-Identifier: Apache-2.0
"""Reading one column, whatever library holds it, into an array that hides nothing.

``numpy.asarray`` turns mixed lists into text and mixed integers into floats without a word;
lists are therefore read object by object.
"""

from __future__ import annotations

import array
import datetime as dt
import math
import numbers
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True)
class Column:
    """The values of a column.

    Attributes
    ----------
    values : numpy.ndarray
        The values; or, with ``labels``, int codes into them.
    labels : numpy.ndarray or None
        The distinct values of a dictionary-encoded column.
    aware : bool
        True where datetime64 values are known to be UTC.
    """

    values: Array
    labels: Array | None = None
    aware: bool = False

    @property
    def is_scalar(self) -> bool:
        """True for one value that stands for all rows."""
        return self.values.ndim == 0

    def decoded(self) -> Array:
        """Return the values themselves, without the dictionary."""
        return self.values if self.labels is None else self.labels[self.values]

    def as_rows(self) -> Column:
        """Return the column; a single value as a column of one row, to be broadcast."""
        if not self.is_scalar:
            return self
        return Column(self.values.reshape(1), self.labels, self.aware)


class ColumnFault(Exception):
    """A column cannot be used: what was found, what to do, and at which rows."""

    def __init__(self, found: str, remedy: str, rows: tuple[int, ...] = ()) -> None:
        super().__init__(found)
        self.found, self.remedy, self.rows = found, remedy, rows


_SCALARS = (
    str, bytes, numbers.Number, np.generic, Enum, dt.date, dt.timedelta, type(None),
)  # fmt: skip


def rows_of(bad: Array) -> tuple[int, ...]:
    """Return the numbers of the rows that a mask marks."""
    return tuple(np.flatnonzero(bad).tolist())


def missing(bad: Array) -> ColumnFault:
    """Return the fault of rows without a value."""
    remedy = "fill them or drop these rows; NVTX rows have no missing values"
    return ColumnFault("values are missing", remedy, rows_of(bad))


def is_missing(value: Any) -> bool:
    """Tell whether an object is what tables put where there is no value."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float) and math.isnan(value)


def read_column(data: Any, shape: tuple[int, ...] = ()) -> Column:
    """Read a column of values of a shape; raises ColumnFault where values are missing."""
    library = type(data).__module__.partition(".")[0]
    if library == "pandas" and hasattr(data, "dtype"):
        return _pandas_column(data, shape)
    if library == "pyarrow" and hasattr(data, "null_count"):
        return _arrow_column(data, shape)
    if library == "polars" and hasattr(data, "null_count"):
        return _polars_column(data, shape)
    if _is_single(data):
        single = np.empty(1, dtype=object)
        single[0] = data
        return Column(settled(single).reshape(()))
    return Column(_array_of(data, shape))


def _is_single(data: Any) -> bool:
    # nvtx objects (registered strings, scopes) stand for the number that they hold.
    single = isinstance(data, _SCALARS) or is_missing(data)
    return single or hasattr(data, "handle") or hasattr(data, "scope_id")


def _array_of(data: Any, shape: tuple[int, ...]) -> Array:
    if isinstance(data, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(data)
        if masked.any():
            raise missing(np.asarray(masked.reshape(len(masked), -1).any(axis=1)))
        return _unboxed(data.data, shape)
    if isinstance(data, (np.ndarray, memoryview, array.array)) or hasattr(data, "__array__"):
        return _unboxed(np.asarray(data), shape)
    if isinstance(data, AbstractSet | Mapping) or not isinstance(data, Iterable):
        found = f"{type(data).__name__} is no column"
        raise ColumnFault(found, "use an array, a list or one value")
    items = list(data)
    return _unboxed(np.fromiter(items, dtype=object, count=len(items)), shape)


def _unboxed(values: Array, shape: tuple[int, ...]) -> Array:
    if values.dtype.kind == "T":
        values = values.astype(object)
    if values.dtype.kind != "O":
        return values
    if shape and values.ndim == 1 and len(values):
        values = _stacked(values, shape)
    return settled(values)


def _stacked(values: Array, shape: tuple[int, ...]) -> Array:
    """Turn rows that are sequences into an array of one more dimension."""
    fault = ColumnFault("rows of different or unknown length", f"give every row the shape {shape}")
    try:
        stacked = np.array([_nested(row, len(shape)) for row in values], dtype=object)
    except (TypeError, ValueError):
        raise fault from None
    if stacked.ndim <= len(shape):
        raise fault
    return stacked


def _nested(row: Any, depth: int) -> Any:
    return [_nested(part, depth - 1) for part in row] if depth else row


def settled(values: Array) -> Array:
    """Give an object array a number type where every element has one and none would change."""
    flat = values.ravel().tolist()
    types = set(map(type, flat))
    if not types:
        return values
    if all(issubclass(kind, (bool, np.bool_)) for kind in types):
        return values.astype(np.bool_)
    if all(issubclass(kind, float | np.floating) and kind is not np.longdouble for kind in types):
        return values.astype(np.float64)
    if all(issubclass(k, int | np.integer) and not issubclass(k, bool | Enum) for k in types):
        return _integers(values, [int(number) for number in flat])
    return values


def _integers(values: Array, flat: list[int]) -> Array:
    for dtype in (np.int64, np.uint64):
        info = np.iinfo(dtype)
        if info.min <= min(flat) and max(flat) <= info.max:
            return np.array(flat, dtype=dtype).reshape(values.shape)
    return values


def _pandas_column(series: Any, shape: tuple[int, ...]) -> Column:
    dtype = series.dtype
    if not isinstance(dtype, np.dtype):
        bad = np.asarray(series.isna())
        if bad.any():
            raise missing(bad)
    if hasattr(dtype, "pyarrow_dtype"):
        return _arrow_column(series.array.__arrow_array__(), shape)
    if hasattr(dtype, "categories"):
        values = getattr(series, "values", series)
        labels = _unboxed(np.asarray(dtype.categories), ())
        return Column(np.asarray(values.codes, dtype=np.intp), labels)
    if getattr(dtype, "tz", None) is not None:
        accessor = getattr(series, "dt", series)
        return Column(np.asarray(accessor.tz_convert(None).to_numpy()), aware=True)
    native = getattr(dtype, "numpy_dtype", None)
    if native is not None:
        return Column(_unboxed(series.to_numpy(dtype=native), shape))
    return Column(_unboxed(series.to_numpy(), shape))


def _arrow_column(column: Any, shape: tuple[int, ...]) -> Column:
    if column.null_count:
        raise missing(np.asarray(column.is_null().to_numpy(zero_copy_only=False)))
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
        if hasattr(column, "num_chunks"):
            column = column.chunk(0)
    kind = column.type
    if hasattr(column, "indices"):
        if column.dictionary.null_count:
            return _arrow_column(column.dictionary_decode(), shape)
        labels = _unboxed(column.dictionary.to_numpy(zero_copy_only=False), ())
        codes = column.indices.to_numpy(zero_copy_only=False)
        return Column(np.asarray(codes, dtype=np.intp), labels)
    if hasattr(column, "flatten") and shape and hasattr(kind, "value_type"):
        return Column(_unboxed(np.array(column.to_pylist(), dtype=object), shape))
    aware = getattr(kind, "tz", None) is not None
    return Column(_unboxed(column.to_numpy(zero_copy_only=False), shape), aware=aware)


def _polars_column(series: Any, shape: tuple[int, ...]) -> Column:
    if series.null_count():
        raise missing(series.is_null().to_numpy())
    dtype = series.dtype
    if hasattr(dtype, "categories") or type(dtype).__name__ in ("Categorical", "Enum"):
        return Column(_unboxed(series.to_numpy(), shape))
    if str(dtype) in ("Int128", "UInt128"):  # Polars has no NumPy form of them
        return Column(_array_of(series.to_list(), shape))
    aware = getattr(dtype, "time_zone", None) is not None
    return Column(_unboxed(series.to_numpy(), shape), aware=aware)
