# SPDX-License-Identifier: Apache-2.0
"""Builders of the usual schemas, one for each family of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from ._field import Field
from ._roles import counter_timestamp, mark_time, message, range_begin, range_end, range_id
from ._schema import Schema

Message: TypeAlias = int | Literal["registered"] | None
Fields: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]


def mark_schema(
    *, message: Message = 32, fields: Fields | None = None, align: bool = False
) -> Schema:
    """Build the schema of marks: ``time``, ``message``, then the payload fields.

    Parameters
    ----------
    message : int, "registered" or None
        Code points of text, a registered string's handle, or no message.
    fields : mapping or pairs, optional
        The payload: name to NumPy dtype, helper or Enum class.
    align : bool
        Place the fields as a C compiler would.

    Examples
    --------
    >>> mark_schema(message=16, fields={"step": "i8"}).names
    ('time', 'message', 'step')
    """
    return Schema("mark", _pairs({"time": mark_time()}, message, fields), align=align)


def range_schema(
    kind: Literal["pushpop", "startend"],
    *,
    message: Message = 32,
    fields: Fields | None = None,
    align: bool = False,
) -> Schema:
    """Build the schema of complete ranges: ``start``, ``end``, ``message``, then the payload.

    Parameters
    ----------
    kind : {"pushpop", "startend"}
        Ranges that nest on one thread, or ranges that may overlap.
    message, fields, align
        As for :func:`mark_schema`.
    """
    times = {"start": range_begin(), "end": range_end()}
    return Schema(kind, _pairs(times, message, fields), align=align)


def half_schema(
    kind: Literal["push", "pop", "start", "end"],
    *,
    message: Message | Literal["default"] = "default",
    fields: Fields | None = None,
    align: bool = False,
) -> Schema:
    """Build the schema of one side of a range: ``time``, (``range_id``,) (``message``,) payload.

    Half ranges are written one by one with ``Stream.write_event``; NVTXW has no batches of
    them.

    Parameters
    ----------
    kind : {"push", "pop", "start", "end"}
        ``start`` and ``end`` carry a ``range_id``, which ties them together.
    message : int, "registered", None or "default"
        As for :func:`mark_schema`; by default 32 code points where a range opens, none where it
        closes.
    fields, align
        As for :func:`mark_schema`.
    """
    opens = kind in ("push", "start")
    first: dict[str, Field] = {"time": range_begin() if opens else range_end()}
    if kind in ("start", "end"):
        first["range_id"] = range_id()
    if message == "default":
        message = 32 if opens else None
    return Schema(kind, _pairs(first, message, fields), align=align)


def counter_schema(fields: Fields, *, time: bool = False, align: bool = False) -> Schema:
    """Build the schema of a counter group: one counter a field, sampled together.

    Parameters
    ----------
    fields : mapping or pairs
        The counters: name to numeric dtype or :func:`value` (unit, limits).
    time : bool
        Embed a ``time`` field in every row, for ``write_counter_batch`` without
        ``timestamps=``. Without it rows hold values alone, as ``Counter.sample`` and
        ``write_counter_sample`` take them.
    align : bool
        Place the fields as a C compiler would.

    Examples
    --------
    >>> counter_schema({"used": "i8"}, time=True).names
    ('time', 'used')
    """
    first = {"time": counter_timestamp()} if time else {}
    return Schema("counter", _pairs(first, None, fields), align=align)


def _pairs(
    first: Mapping[str, Field], length: Message, fields: Fields | None
) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = list(first.items())
    if length is not None:
        pairs.append(("message", message(length)))
    if fields is not None:
        pairs += fields.items() if isinstance(fields, Mapping) else fields
    return pairs
