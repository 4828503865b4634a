# SPDX-License-Identifier: Apache-2.0
"""The columns of a table, whatever library holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._column import ColumnFault


def columns_of(table: Any) -> dict[str, Any]:
    """Return the columns of a table by name, without converting any; raises ColumnFault."""
    if table is None:
        return {}
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, (np.ndarray, np.void)) and table.dtype.names:
        rows = np.atleast_1d(np.asarray(table))
        if rows.ndim != 1:
            raise ColumnFault(f"the array has {rows.ndim} dimensions", "pass one-dimensional rows")
        return {name: rows[name] for name in table.dtype.names}
    names = _names(table)
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise ColumnFault(f"the table has two columns named {twice[0]!r}", "rename one of them")
    return {name: table[name] for name in names}


def _names(table: Any) -> list[Any]:
    for attribute in ("column_names", "columns"):  # Arrow; pandas and Polars
        names = getattr(table, attribute, None)
        if names is not None and hasattr(table, "__getitem__"):
            return list(names)
    raise ColumnFault(
        f"{type(table).__name__} is no table",
        "pass a dict of columns, a structured array, a DataFrame, an Arrow or a Polars table",
    )
