# SPDX-License-Identifier: Apache-2.0
"""From rows back to columns, and roles back onto dtypes that lost them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._column import Array
from ._field import Field
from ._storage import DType
from .errors import PackError, Problem, SchemaError

if TYPE_CHECKING:
    from ._schema import Schema

_VIEWS = {
    "bool": np.dtype(np.bool_),
    "datetime": np.dtype("M8[ns]"),
    "timedelta": np.dtype("m8[ns]"),
}


def columns_of_rows(schema: Schema, data: Any) -> dict[str, Array]:
    """Return the columns of packed rows, in the types that users hand over."""
    rows = _rows(schema, data)
    return {name: _shown(field, rows[name]) for name, field in schema.fields.items()}


def _rows(schema: Schema, data: Any) -> Array:
    if isinstance(data, np.ndarray) and data.dtype.names:
        if data.dtype != schema.dtype:
            found = f"rows of dtype {data.dtype} are not of this schema"
            raise PackError([Problem(None, found, f"expected {schema.dtype}")])
        return data.reshape(-1)
    size = memoryview(data).nbytes
    if size % schema.itemsize:
        found = f"{size} bytes are no whole number of rows of {schema.itemsize} bytes"
        raise PackError([Problem(None, found, "pass whole rows")])
    return np.frombuffer(data, dtype=schema.dtype)


def _shown(field: Field, values: Array) -> Array:
    if field.source == "struct":
        return values.view(values.dtype)
    plain = _VIEWS.get(field.source, field.base)
    if plain.kind == "b":
        return values.astype(np.bool_)
    return values.astype(plain) if plain.kind in "Mm" else values


def reapplied(schema: Schema, dtype: Any) -> DType:
    """Return the schema's dtype if another has the same layout; raises SchemaError if not."""
    plain = np.dtype(dtype)
    if plain != schema.dtype:
        found = f"{plain} is not the layout of this schema"
        raise SchemaError([Problem(None, found, f"expected {schema.dtype}")])
    return schema.dtype
