# SPDX-License-Identifier: Apache-2.0
"""Rows of events: which fields one has, and the NumPy dtype that says so to NVTX."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import nvtx
from nvtx import EntryKind, EventKind, PayloadEntryType

from nvtx_replay.importers.chrome._flows import Ends
from nvtx_replay.importers.chrome._json_events import Number
from nvtx_replay.importers.chrome._strings import RepeatedStrings
from nvtx_replay.importers.chrome._text import clean, json_text

MAX_LAYOUTS = 4_096
"""Distinct layouts with fields of their own; further ones carry their arguments as one JSON text."""

INT, UINT, FLOAT, HANDLE, TEXT = "iufht"
_INT64 = range(-(2**63), 2**63)
_UINT64 = range(2**64)
_NO_ENDS = Ends()
_FLOW_FIELDS = ("nvtx.flow_out", "nvtx.flow_in")


class Layout(NamedTuple):
    """The fields of a row, in order.

    ``keys`` and ``kinds`` describe the message and then the payload; ``width`` is the number of code
    points of every TEXT field; ``out`` and ``into`` are the number of flow ids.
    """

    event: EventKind
    keys: tuple[str, ...]
    kinds: str
    width: int
    out: int
    into: int


class Encoder:
    """Turn an event's name, arguments and flows into a layout and the values of one row."""

    def __init__(self, strings: RepeatedStrings, max_layouts: int = MAX_LAYOUTS) -> None:
        self._strings = strings
        self._max_layouts = max_layouts
        self._known: set[Layout] = set()
        self.folded = 0

    def row(
        self,
        event: EventKind,
        head: tuple[int, ...],
        name: str,
        args: dict[str, Any],
        ends: Ends = _NO_ENDS,
    ) -> tuple[Layout, tuple[Any, ...]]:
        """Return the layout and the row; ``head`` holds the values of the leading fields."""
        layout, values = self._encoded(event, name, args, ends)
        if layout not in self._known:
            if len(self._known) < self._max_layouts:
                self._known.add(layout)
            elif args:
                self.folded += 1
                layout, values = self._encoded(event, name, {"args": json_text(args)}, ends)
        flows: tuple[Any, ...] = ()
        if layout.out:
            flows = (_padded(ends.out, layout.out),)
        if layout.into:
            flows = (*flows, _padded(ends.into, layout.into))
        return layout, (*head, *values, *flows)

    def _encoded(
        self, event: EventKind, name: str, args: dict[str, Any], ends: Ends
    ) -> tuple[Layout, list[Any]]:
        keys, kinds, values, longest = [""], "", [], 0
        for key, value in (("", name), *args.items()):
            kind, encoded = self._value(value)
            if kind:
                kinds += kind
                values.append(encoded)
                if kind == TEXT and len(encoded) > longest:
                    longest = len(encoded)
                keys.append(key)
        out, into = _slots(ends.out), _slots(ends.into)
        width = text_width(longest) if TEXT in kinds else 0
        return Layout(event, tuple(keys[1:]), kinds, width, out, into), values

    def _value(self, value: Any) -> tuple[str, Any]:
        kind = type(value)
        if kind is int:
            if value in _INT64:
                return INT, value
            if value in _UINT64:
                return UINT, value
        elif value is None:
            return "", None
        elif kind is Number:
            number = float(value)
            if math.isfinite(number):
                return FLOAT, number
        # Booleans, lists, objects and numbers that no field holds travel as JSON text.
        text = value if kind is str else json_text(value)
        handle = self._strings.handle(text)
        return (TEXT, clean(text)) if handle is None else (HANDLE, handle)


def text_width(length: int) -> int:
    """Return the smallest of the widths 16, 64, 256, 1024 … that holds a text."""
    width = 16
    while width < length:
        width *= 4
    return width


def _slots(identifiers: list[int]) -> int:
    """Return the number of places for flow ids: a power of two, so that layouts stay few."""
    return 1 << (len(identifiers) - 1).bit_length() if identifiers else 0


def _padded(identifiers: list[int], slots: int) -> Any:
    if slots == 1:
        return identifiers[0]
    return tuple(identifiers) + (0,) * (slots - len(identifiers))


_HEADS: dict[EventKind, tuple[EntryKind | PayloadEntryType, ...]] = {
    EventKind.MARK: (EntryKind.MARK,),
    EventKind.RANGE_PUSHPOP: (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END),
    EventKind.RANGE_STARTEND: (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END),
    EventKind.RANGE_PUSH: (EntryKind.RANGE_BEGIN,),
    EventKind.RANGE_START: (EntryKind.RANGE_BEGIN, PayloadEntryType.RANGE_ID),
}


def dtype_of(layout: Layout) -> np.dtype[np.void]:
    """Return the dtype of a layout's rows: head, category, message, arguments, flows."""
    taken: set[str] = set()
    arguments = [
        (_distinct(clean(key) or "(empty)", taken), _field(kind, layout.width))
        for key, kind in zip(layout.keys[1:], layout.kinds[1:], strict=True)
    ]
    # Fields with a role have names too, which the arguments' names must not meet.
    head: list[tuple[str, Any]] = [
        (_distinct(role.name.lower(), taken), _role_field(role)) for role in _HEADS[layout.event]
    ]
    head.append((_distinct("category", taken), _role_field(PayloadEntryType.CATEGORY)))
    head.append((_distinct("message", taken), _message_field(layout)))
    flows = [
        (name, np.dtype((np.uint64, (slots,))) if slots > 1 else np.dtype(np.uint64))
        for name, slots in zip(_FLOW_FIELDS, (layout.out, layout.into), strict=True)
        if slots
    ]
    return np.dtype([*head, *arguments, *flows])


def _distinct(name: str, taken: set[str]) -> str:
    """Return a name that is not taken and that is no flow field's."""
    base, number = name, 2
    while name in taken or name in _FLOW_FIELDS:
        name = f"{base} #{number}"
        number += 1
    taken.add(name)
    return name


def _field(kind: str, width: int) -> np.dtype[Any]:
    if kind == TEXT:
        return np.dtype(f"U{width}")
    if kind == HANDLE:
        return nvtx.numpy_dtype(np.uintp, entry_type=PayloadEntryType.REGISTERED_STRING)
    return np.dtype({INT: np.int64, UINT: np.uint64, FLOAT: np.float64}[kind])


def _role_field(role: EntryKind | PayloadEntryType) -> np.dtype[Any]:
    if isinstance(role, EntryKind):
        return nvtx.numpy_dtype(np.int64, entry_kind=role)
    storage = np.uint32 if role is PayloadEntryType.CATEGORY else np.uint64
    return nvtx.numpy_dtype(storage, entry_type=role)


def _message_field(layout: Layout) -> np.dtype[Any]:
    if layout.kinds[0] == TEXT:
        return nvtx.numpy_dtype(f"U{layout.width}", entry_kind=EntryKind.MESSAGE)
    return nvtx.numpy_dtype(
        np.uintp,
        entry_kind=EntryKind.MESSAGE,
        entry_type=PayloadEntryType.REGISTERED_STRING,
    )


def plain_args(args: Any, beside: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an event's arguments with further fields of the event itself added.

    Arguments that are no object become one of the key ``args``.
    """
    plain = args if isinstance(args, dict) else {} if args is None else {"args": args}
    added = {(key if key not in plain else f"{key} (event)"): value for key, value in beside}
    return {**plain, **added} if added else plain
