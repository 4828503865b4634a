# SPDX-License-Identifier: Apache-2.0
"""Number conversions that keep every value or name the rows where one would change."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np

from ._column import Array, ColumnFault, is_missing, missing, rows_of
from ._storage import DType

Casting: TypeAlias = Literal["exact", "same_kind", "unsafe"]

_KINDS = {
    "U": "texts", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "durations",
    "V": "structures", "O": "objects",
}  # fmt: skip


def wrong_kind(values: Array, expected: str, remedy: str) -> ColumnFault:
    """Return the fault of a column whose values are of another kind."""
    found = _KINDS.get(values.dtype.kind, str(values.dtype))
    return ColumnFault(f"{found} stand where {expected} are expected", remedy)


def to_number(values: Array, target: DType, casting: Casting) -> Array:
    """Convert to a number dtype; raises ColumnFault with the rows that would change."""
    kind = values.dtype.kind
    if kind == "O":
        return _objects_to_number(values, target, casting)
    if kind not in "biuf":
        raise wrong_kind(values, f"numbers ({target})", "convert the column first")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if kind == "b" or np.can_cast(values.dtype, target, "safe"):
        return _exact_unless_wide(values, target, casting)
    if target.kind == "f":
        return _narrowed(values, target, casting)
    if kind == "f":
        return _floats_to_integer(values, target, casting)
    return _integers_to_integer(values, target, casting)


def _exact_unless_wide(values: Array, target: DType, casting: Casting) -> Array:
    # NumPy calls int64 to float64 safe, although it rounds above 2**53.
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and target.kind == "f":
        return _narrowed(values, target, casting)
    return values.astype(target, copy=False)


def _narrowed(values: Array, target: DType, casting: Casting) -> Array:
    with np.errstate(all="ignore"):
        result = values.astype(target)
        infinite = np.isinf(result) & np.isfinite(values)
        if infinite.any():
            found = f"values are too large for {target}"
            raise ColumnFault(found, "use a wider field", rows_of(infinite))
        if casting == "exact":
            changed = ~_same(values, result)
            if changed.any():
                raise ColumnFault(
                    f"{target} cannot hold these {values.dtype} values exactly",
                    "use a wider field or casting='same_kind' to round",
                    rows_of(changed),
                )
    return result


def _same(values: Array, result: Array) -> Array:
    if values.dtype.kind == "f":
        return np.asarray((result.astype(values.dtype) == values) | np.isnan(values))
    # 2**63 and 2**64 do not exist in the integer type, and casting them back is undefined in C.
    limit = float(2 ** (values.dtype.itemsize * 8 - (values.dtype.kind == "i")))
    wide = result.astype(np.float64)
    inside = wide < limit
    back = np.where(inside, wide, 0.0).astype(values.dtype)
    return np.asarray(inside & (back == values))


def _floats_to_integer(values: Array, target: DType, casting: Casting) -> Array:
    _refuse_unsound(~np.isfinite(values), target)
    if casting != "unsafe":
        raise ColumnFault(
            f"{values.dtype} values stand where {target} is expected",
            "pass integers (floats lose digits above 2**53), or casting='unsafe' to cut them",
            rows_of(values != np.trunc(values)),
        )
    info = np.iinfo(target)
    whole = np.trunc(values.astype(np.float64))
    outside = (whole < float(info.min)) | (whole >= float(info.max) + (target.itemsize < 8))
    if outside.any():
        found = f"values lie outside {target}"
        raise ColumnFault(found, "use a wider field", rows_of(outside))
    return whole.astype(target)


def _refuse_unsound(bad: Array, target: DType) -> None:
    if bad.any():
        found = f"NaN or infinity stands where {target} is expected"
        raise ColumnFault(found, "fill or drop these rows", rows_of(bad))


def _integers_to_integer(values: Array, target: DType, casting: Casting) -> Array:
    if casting == "unsafe":
        return values.astype(target)
    info, own = np.iinfo(target), np.iinfo(values.dtype)
    outside = np.zeros(values.shape, dtype=bool)
    if own.min < info.min:
        outside |= values < values.dtype.type(info.min)
    if own.max > info.max:
        outside |= values > values.dtype.type(info.max)
    if outside.any():
        found = f"values lie outside {target} ({info.min} to {info.max})"
        raise ColumnFault(found, "use a wider field or correct them", rows_of(outside))
    return values.astype(target)


def _objects_to_number(values: Array, target: DType, casting: Casting) -> Array:
    flat = values.tolist()
    _require_numbers(flat, target)
    if target.kind == "f":
        return _objects_to_float(flat, target, casting)
    integers = np.array([isinstance(v, int | np.integer | np.bool_) for v in flat], dtype=bool)
    if not integers.all():
        _refuse_unsound(np.array([_is_unsound(v) for v in flat]), target)
        if casting != "unsafe":
            found = f"floats stand where {target} is expected"
            raise ColumnFault(found, "pass integers, or casting='unsafe'", rows_of(~integers))
    info = np.iinfo(target)
    whole = [int(v) for v in flat]
    outside = np.array([not info.min <= v <= info.max for v in whole], dtype=bool)
    if outside.any():
        found = f"values lie outside {target} ({info.min} to {info.max})"
        raise ColumnFault(found, "use a wider field or correct them", rows_of(outside))
    return np.array(whole, dtype=target)


def _objects_to_float(flat: list[Any], target: DType, casting: Casting) -> Array:
    # Python compares int with float exactly; NumPy would round the int first.
    wide = [_float(v) for v in flat]
    pairs = list(zip((_python(v) for v in flat), wide, strict=True))
    rounded = np.array([math.isfinite(w) and w != v for v, w in pairs], dtype=bool)
    lost = np.array([math.isinf(w) and w != v for v, w in pairs], dtype=bool)
    if lost.any() or (rounded.any() and casting == "exact"):
        found = "values that no float64 holds exactly"
        remedy = "send them as text, or casting='same_kind' to round"
        raise ColumnFault(found, remedy, rows_of(lost if lost.any() else rounded))
    return _narrowed(np.array(wide, dtype=np.float64), target, casting)


def _is_unsound(value: Any) -> bool:
    return isinstance(value, float | np.floating) and not math.isfinite(value)


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _require_numbers(flat: list[Any], target: DType) -> None:
    empty = np.array([is_missing(v) and not isinstance(v, float) for v in flat], dtype=bool)
    if empty.any():
        raise missing(empty)
    allowed = (int, float, np.integer, np.floating, np.bool_)
    bad = np.array([not isinstance(v, allowed) for v in flat], dtype=bool)
    if bad.any():
        sample = flat[int(np.flatnonzero(bad)[0])]
        found = f"{type(sample).__name__} values stand where numbers ({target}) are expected"
        raise ColumnFault(found, "convert the column first", rows_of(bad))
