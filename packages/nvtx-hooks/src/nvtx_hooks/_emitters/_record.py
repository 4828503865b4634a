# SPDX-License-Identifier: Apache-2.0
"""NVTX payloads from named values: one structured NumPy row, typed field by field."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

# NVTX keeps a schema for each distinct layout for the life of the process.
_LAYOUTS_KEPT = 256


def has_numpy() -> bool:
    """Tell whether NumPy, which makes the payloads, is installed."""
    return find_spec("numpy") is not None


def record(values: Mapping[str, Any]) -> Any:
    """Make a payload of texts and of tuples of integers.

    Parameters
    ----------
    values : mapping of str to str or tuple of int
        Text becomes a fixed field of whole multiples of 16 characters, so that few layouts arise;
        a tuple becomes an int64 array of its length. Empty tuples are left out: NVTX has no
        array of no elements.

    Returns
    -------
    numpy.ndarray
        A structured array of no dimensions.
    """
    import numpy as np

    kept = {name: value for name, value in values.items() if value != ()}
    layout = tuple((name, _room(value)) for name, value in kept.items())
    return np.array(tuple(kept.values()), dtype=_dtype(layout))


def _room(value: str | tuple[int, ...]) -> int:
    return -(-max(len(value), 1) // 16) * 16 if isinstance(value, str) else -len(value)


@lru_cache(maxsize=_LAYOUTS_KEPT)
def _dtype(layout: tuple[tuple[str, int], ...]) -> Any:
    import numpy as np

    fields: list[Any] = [
        (name, f"U{room}") if room > 0 else (name, np.int64, (-room,)) for name, room in layout
    ]
    return np.dtype(fields)
