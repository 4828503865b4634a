# SPDX-License-Identifier: Apache-2.0
"""Packing by nvtx-schema, its errors told in the words of this package."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import nvtx_schema as nvs
from numpy.typing import NDArray

from nvtx_replay._column import Array
from nvtx_replay.errors import TableError


def pack(schema: nvs.Schema, columns: Mapping[str, Any]) -> Array:
    """Return the rows of columns whose times, order and dates were checked before."""
    # Dates without a zone were refused before; what is left is UTC.
    return schema.pack(dict(columns), order="any", naive="utc")


@contextlib.contextmanager
def refused(numbers: NDArray[np.int64] | None = None) -> Iterator[None]:
    """Turn errors of nvtx-schema into :class:`TableError`.

    Parameters
    ----------
    numbers : numpy.ndarray of int64, optional
        The numbers, in the user's table, of the rows that are packed.
    """
    try:
        yield
    except nvs.SchemaError as error:
        problems = [replace(p, rows=_renumbered(p.rows, numbers)) for p in error.problems]
        raise TableError(str(nvs.SchemaError(problems))) from error


def _renumbered(rows: tuple[int, ...], numbers: NDArray[np.int64] | None) -> tuple[int, ...]:
    return rows if numbers is None else tuple(numbers[list(rows)].tolist())
