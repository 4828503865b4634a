# SPDX-License-Identifier: Apache-2.0
"""How a declared NumPy dtype is stored in a payload that NVTX can describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

DType: TypeAlias = "np.dtype[Any]"

Source: TypeAlias = Literal[
    "number", "text", "bytes", "bool", "datetime", "timedelta", "enum", "intenum", "struct"
]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a field before the field has a name."""

    found: str
    remedy: str


@dataclass(frozen=True)
class Storage:
    """The stored form of a scalar dtype: what NVTX sees and what users hand over."""

    dtype: DType
    source: Source
    faults: tuple[Fault, ...] = ()


_PLACEHOLDER = np.dtype(np.uint8)

# nvtx looks scalar types up by their exact class: np.longlong is refused where np.int64 is known.
_BY_CODE = {
    np.dtype(kind).str[1:]: np.dtype(kind)
    for kind in (
        np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
        np.float16, np.float32, np.float64,
    )
}  # fmt: skip

_REFUSED = {
    "c": ("complex numbers, which NVTX cannot describe", "store two real fields"),
    "O": ("Python objects, which have no fixed size", "use numbers, text(n) or an Enum class"),
    "T": ("text of variable width", "use text(n) with the most code points a value may have"),
    "V": ("raw bytes without a type", "use a bytes dtype such as 'S8' or an array of uint8"),
}


def refused(found: str, remedy: str) -> Storage:
    """Return the storage of a dtype that cannot be sent."""
    return Storage(_PLACEHOLDER, "number", (Fault(found, remedy),))


def scalar_storage(dtype: DType) -> Storage:
    """Return how a scalar dtype is stored: bool as uint8, dates and durations as int64 ns."""
    storage = _native_storage(dtype.newbyteorder("="))
    if storage.faults or dtype.isnative:
        return storage
    fault = Fault(
        f"dtype {dtype.str!r} has the byte order of another machine",
        "use dtype.newbyteorder('='); pack() converts the values",
    )
    return replace(storage, faults=(fault,))


_AS_INTEGER: dict[str, Storage] = {
    "b": Storage(np.dtype(np.uint8), "bool"),
    "M": Storage(np.dtype(np.int64), "datetime"),
    "m": Storage(np.dtype(np.int64), "timedelta"),
}


def _native_storage(dtype: DType) -> Storage:
    kind = dtype.kind
    if kind in _AS_INTEGER:
        return _AS_INTEGER[kind]
    if kind in "US":
        return _text_storage(dtype)
    if kind in _REFUSED:
        found, remedy = _REFUSED[kind]
        return refused(f"dtype {dtype} holds {found}", remedy)
    known = _BY_CODE.get(dtype.str[1:])
    if known is None:
        return refused(f"dtype {dtype} is not among NVTX's number types", "use float64")
    return Storage(known, "number")


def _text_storage(dtype: DType) -> Storage:
    if dtype.itemsize == 0:
        return refused("text of no length", "say how long it may be: text(32), or 'S8' for bytes")
    # Named anew, because dtype itself may carry metadata.
    return Storage(np.dtype(dtype.str), "text" if dtype.kind == "U" else "bytes")
