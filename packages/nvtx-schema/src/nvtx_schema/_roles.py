# SPDX-License-Identifier: Apache-2.0
"""Helpers that describe fields: one for each event role, special type and kind of value."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from nvtx import (
    CounterInterpolation,
    CounterSemantics,
    CounterValueType,
    EntryKind,
    PayloadEntryType,
)

from ._field import Field, broken_field, field_of
from ._storage import Fault

_TIME = np.dtype(np.int64)
_ID32 = np.dtype(np.uint32)
_ID64 = np.dtype(np.uint64)


def range_begin() -> Field:
    """Return the begin timestamp of a range: int64, in the stream's time domain (usually ns)."""
    return Field(_TIME, role=EntryKind.RANGE_BEGIN)


def range_end() -> Field:
    """Return the end timestamp of a range: int64, in the stream's time domain (usually ns)."""
    return Field(_TIME, role=EntryKind.RANGE_END)


def mark_time() -> Field:
    """Return the timestamp of a mark: int64, in the stream's time domain (usually ns)."""
    return Field(_TIME, role=EntryKind.MARK)


def counter_timestamp() -> Field:
    """Return the embedded timestamp of a counter group: int64, in the stream's time domain."""
    return Field(_TIME, role=EntryKind.COUNTER_TIMESTAMP)


def message(length: int | Literal["registered"] = 32) -> Field:
    """Return the field that holds the event's message.

    Parameters
    ----------
    length : int or "registered"
        The most code points a message may have; each takes 4 bytes in every row, because
        NVTX is sent UTF-32. ``"registered"`` stores the handle of a registered string
        instead (8 bytes a row); ``pack`` then needs ``domain=`` to register the text.
    """
    if length == "registered":
        return replace(registered_string(), role=EntryKind.MESSAGE)
    return replace(text(length), role=EntryKind.MESSAGE)


def text(length: int) -> Field:
    """Return a text field of at most ``length`` code points, 4 bytes each."""
    if type(length) is not int or length < 1:
        return broken_field(
            f"{length!r} is not a length of text",
            "use a positive number of code points (or message('registered'))",
        )
    return Field(np.dtype(f"U{length}"), source="text")


def range_id() -> Field:
    """Return the identifier that ties a start event to its end event: uint64, never 0."""
    return Field(_ID64, entry_type=PayloadEntryType.RANGE_ID)


def category() -> Field:
    """Return a category identifier: uint32; ``pack(..., domain=)`` also takes category names."""
    return Field(_ID32, entry_type=PayloadEntryType.CATEGORY)


def color() -> Field:
    """Return a color: uint32 0xAARRGGBB; ``pack`` also takes ``"#RRGGBB"`` and ``"#AARRGGBB"``."""
    return Field(_ID32, entry_type=PayloadEntryType.COLOR_ARGB)


def scope_id() -> Field:
    """Return a scope identifier: uint64; ``pack`` also takes ``nvtx.writer.Scope`` objects."""
    return Field(_ID64, entry_type=PayloadEntryType.SCOPE_ID)


def registered_string() -> Field:
    """Return the handle of a registered string: pointer-sized; ``pack(..., domain=)`` takes text.

    Registered strings live as long as the process: use them for text that repeats.
    """
    storage = np.dtype(f"u{np.dtype(np.uintp).itemsize}")
    return Field(storage, entry_type=PayloadEntryType.REGISTERED_STRING)


def value(
    dtype: Any,
    *,
    unit: str | None = None,
    min: float | None = None,
    max: float | None = None,
    scale: int | Fraction = 1,
    value_type: CounterValueType = CounterValueType.ABSOLUTE,
    interpolation: CounterInterpolation = CounterInterpolation.POINT,
) -> Field:
    """Return a field of any dtype with the meaning of its values.

    Parameters
    ----------
    dtype : dtype-like or Enum class
        What the field holds.
    unit : str, optional
        The unit of the values, such as ``"bytes"``.
    min, max : int or float, optional
        The least and the greatest value that can occur; for the tool's axis, not checked.
    scale : int or fractions.Fraction
        What one step of the value is worth in ``unit``.
    value_type : nvtx.CounterValueType
        Whether values are absolute or deltas.
    interpolation : nvtx.CounterInterpolation
        What holds between two samples.

    Notes
    -----
    Faults are kept in the field and reported when a schema is built from it, together with
    all others.
    """
    plain = field_of(dtype)
    try:
        factor = Fraction(scale)
        semantics = CounterSemantics(
            unit=_unit(unit),
            value_type=value_type,
            interpolation=interpolation,
            min=_limit(min),
            max=_limit(max),
            unit_scale_numerator=factor.numerator,
            unit_scale_denominator=factor.denominator,
        )
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        fault = Fault(f"value() was refused ({error})", "correct unit, limits or scale")
        return replace(plain, faults=(*plain.faults, fault))
    return plain if semantics == CounterSemantics() else replace(plain, semantics=semantics)


def _unit(unit: str | None) -> str | None:
    if unit is not None and "\0" in unit:
        raise ValueError("the unit contains a NUL")
    return unit


def _limit(limit: Any) -> Any:
    if isinstance(limit, np.generic):
        limit = limit.item()
    if isinstance(limit, float) and math.isnan(limit):
        raise ValueError("NaN is no limit")
    return limit
