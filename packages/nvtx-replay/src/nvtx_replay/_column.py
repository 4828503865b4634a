# SPDX-License-Identifier: Apache-2.0
"""One column of a table, whatever library holds it, as NumPy arrays."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nvtx_replay.errors import TableError

Array: TypeAlias = "NDArray[Any]"
Mask: TypeAlias = "NDArray[np.bool_]"

_EXACT_FLOAT = 2**53
_TEXT = {str, np.str_}


@dataclass(frozen=True)
class Column:
    """A column's values, one a row.

    Attributes
    ----------
    values : numpy.ndarray
        Numbers, dates, objects or text; where ``labels`` is given, indices into it. Rows
        without a value hold any.
    nulls : numpy.ndarray of bool or None
        True where a row has no value. NaN in a float column is a value.
    labels : list of str or None
        The distinct texts of a dictionary or categorical column.
    is_text : bool
        Whether every value is text.
    has_zone : bool
        Whether dates are instants in UTC, not wall time of an unknown place.
    """

    name: str
    values: Array
    nulls: Mask | None = None
    labels: list[str] | None = None
    is_text: bool = False
    has_zone: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def select(self, rows: Any) -> Column:
        """Return the column of some rows: a mask or row numbers."""
        nulls = None if self.nulls is None else self.nulls[rows]
        if nulls is not None and not nulls.any():
            nulls = None
        return replace(self, values=self.values[rows], nulls=nulls)

    def texts(self) -> list[str]:
        """Return the text of every row, empty where it has none."""
        nulls = self.nulls if self.nulls is not None else np.zeros(len(self), bool)
        if self.labels is not None:
            return [
                "" if null else self.labels[code]
                for code, null in zip(self.values.tolist(), nulls.tolist(), strict=True)
            ]
        if self.nulls is None:
            return list(self.values.tolist())
        return [
            "" if null else text
            for text, null in zip(self.values.tolist(), nulls.tolist(), strict=True)
        ]


def read_column(name: str, data: Any) -> Column:
    """Return a column of a list, a NumPy array, or a column of pandas, Arrow or Polars."""
    library = type(data).__module__.partition(".")[0]
    reader = {"pandas": _from_pandas, "pyarrow": _from_arrow, "polars": _from_polars}.get(library)
    if reader is not None:
        return reader(name, data)
    if isinstance(data, np.ma.MaskedArray):
        plain = _from_numpy(name, data.data)
        return replace(plain, nulls=_any_mask(np.ma.getmaskarray(data)))
    if isinstance(data, np.ndarray):
        return _from_numpy(name, data)
    if isinstance(data, (list, tuple, range)):
        return _from_objects(name, list(data))
    raise TableError(
        f"column {name!r} is of type {type(data).__name__}; expected a list, a NumPy array or a "
        "column of pandas, Arrow or Polars"
    )


def _any_mask(mask: Any) -> Mask | None:
    array = np.asarray(mask, dtype=bool)
    return array if array.any() else None


def _from_numpy(name: str, array: Array) -> Column:
    if array.ndim == 0:
        raise TableError(f"column {name!r} is one value; expected one a row")
    if array.dtype.kind == "O":
        return _from_objects(name, array.tolist())
    if array.dtype.kind == "T":  # text of variable width
        return _from_objects(name, array.astype(object).tolist())
    values = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    nulls = _any_mask(np.isnat(values)) if array.dtype.kind in "mM" else None
    return Column(name, values, nulls, is_text=array.dtype.kind == "U")


def _from_objects(name: str, values: list[Any]) -> Column:
    """Find the one type that holds a list of Python objects exactly."""
    markers = _missing_markers()
    kinds = set(map(type, values))
    nulls = None
    if kinds & {type(marker) for marker in markers}:
        nulls = _any_mask([any(value is marker for marker in markers) for value in values])
    if kinds & _TEXT and float in kinds:
        # pandas marks missing text with NaN; beside numbers, NaN is a value.
        nan = np.array([isinstance(value, float) and value != value for value in values])  # noqa: PLR0124
        nulls = _any_mask(nan if nulls is None else nan | nulls)
    present = values
    if nulls is not None:
        present = [value for value, gone in zip(values, nulls.tolist(), strict=True) if not gone]
        kinds = set(map(type, present))
    if kinds <= _TEXT:
        return Column(name, _objects(values), nulls, is_text=True)
    array = _numbers(present, kinds)
    if nulls is None:
        return Column(name, array)
    spread = np.zeros(len(values), dtype=array.dtype)
    spread[~nulls] = array
    return Column(name, spread, nulls)


def _missing_markers() -> tuple[Any, ...]:
    pandas = sys.modules.get("pandas")
    return (None,) if pandas is None else (None, pandas.NA, pandas.NaT)


def _objects(values: list[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _numbers(values: list[Any], kinds: set[type]) -> Array:
    if kinds == {int}:
        return _whole(values)
    if kinds == {bool}:
        return np.array(values, dtype=bool)
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    if kinds == {int, float}:
        exact = all(isinstance(v, float) or abs(v) <= _EXACT_FLOAT for v in values)
        return np.array(values, dtype=np.float64) if exact else _objects(values)
    if kinds and all(issubclass(kind, np.generic) for kind in kinds):
        array = np.array(values)
        return array if len({value.dtype for value in values}) == 1 else _objects(values)
    return _objects(values)


def _whole(values: list[int]) -> Array:
    low, high = min(values), max(values)
    if low >= -(2**63) and high < 2**63:
        return np.array(values, dtype=np.int64)
    return np.array(values, dtype=np.uint64) if low >= 0 and high < 2**64 else _objects(values)


def _from_pandas(name: str, data: Any) -> Column:
    import pandas as pd

    series = pd.Series(data)
    nulls = _any_mask(series.isna())
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy()
        return _from_codes(name, codes, list(dtype.categories), nulls)
    if isinstance(dtype, pd.DatetimeTZDtype):
        zoned = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return Column(name, zoned, nulls, has_zone=True)
    if isinstance(dtype, pd.ArrowDtype):
        return _from_arrow(name, series.array.__arrow_array__())
    if isinstance(dtype, np.dtype):
        return _from_numpy(name, series.to_numpy())
    plain = getattr(dtype, "numpy_dtype", np.dtype(object))
    if plain.kind == "O" or isinstance(dtype, pd.StringDtype):
        return _from_objects(
            name,
            [
                None if gone else v
                for v, gone in zip(series.tolist(), series.isna().tolist(), strict=True)
            ],
        )
    return Column(name, series.to_numpy(dtype=plain, na_value=plain.type(0)), nulls)


def _from_arrow(name: str, data: Any) -> Column:
    import pyarrow as pa

    array = data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data
    if isinstance(array, pa.ChunkedArray):  # several dictionaries: Arrow keeps the chunks
        array = pa.concat_arrays(array.unify_dictionaries().chunks)
    nulls = _any_mask(array.is_null().to_numpy(zero_copy_only=False))
    if pa.types.is_dictionary(array.type):
        codes = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return _from_codes(name, codes, array.dictionary.to_pylist(), nulls)
    if pa.types.is_timestamp(array.type):
        zoned = array.type.tz is not None
        plain = array.cast(pa.timestamp(array.type.unit))
        return Column(name, plain.to_numpy(zero_copy_only=False), nulls, has_zone=zoned)
    if nulls is not None and (pa.types.is_integer(array.type) or pa.types.is_boolean(array.type)):
        array = array.fill_null(pa.scalar(0).cast(array.type))
    values = array.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "O":
        return _from_objects(name, values.tolist())
    return Column(name, values, nulls)


def _from_polars(name: str, data: Any) -> Column:
    import polars as pl

    nulls = _any_mask(data.is_null().to_numpy())
    if isinstance(data.dtype, (pl.Categorical, pl.Enum)):
        labels = data.drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()
        index = pl.Series(labels, dtype=pl.String)
        codes = data.cast(pl.String).replace_strict(
            index, pl.Series(range(len(labels))), default=0, return_dtype=pl.Int64
        )
        return _from_codes(name, codes.fill_null(0).to_numpy(), labels, nulls)
    if isinstance(data.dtype, pl.Datetime):
        zoned = data.dtype.time_zone is not None
        plain = data.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zoned else data
        return Column(name, plain.to_numpy(), nulls, has_zone=zoned)
    if nulls is not None and (data.dtype.is_integer() or data.dtype == pl.Boolean):
        data = data.fill_null(False if data.dtype == pl.Boolean else 0)
    values = data.to_numpy()
    if values.dtype.kind == "O":
        return _from_objects(name, values.tolist())
    return Column(name, values, nulls)


def _from_codes(name: str, codes: Array, labels: list[Any], nulls: Mask | None) -> Column:
    """Keep a dictionary of texts as it is; spread one of other values over the rows."""
    indices = np.where(codes < 0, 0, codes).astype(np.int64)
    if not labels:
        return Column(name, indices, np.ones(len(codes), dtype=bool), [""], is_text=True)
    if all(isinstance(label, str) for label in labels):
        return Column(name, indices, nulls, labels, is_text=True)
    spread = [labels[code] for code in indices.tolist()]
    return replace(_from_objects(name, spread), nulls=nulls)
