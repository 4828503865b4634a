# SPDX-License-Identifier: Apache-2.0
"""Rows of events: which fields one has, and the NumPy dtype that says so to NVTX."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import nvtx
from nvtx import EntryKind, EventKind, PayloadEntryType

from nvtx_replay.importers.chrome._flows import Ends
from nvtx_replay.importers.chrome._json_events import Number
from nvtx_replay.importers.chrome._strings import RepeatedStrings
from nvtx_replay.importers.chrome._text import clean, json_text

MAX_LAYOUTS = 4_096
"""Distinct layouts with fields of their own; others carry their arguments as one JSON text."""

INT, UINT, FLOAT, HANDLE, TEXT = "iufht"
_LEFT_OUT = "-"
FOLDED = "args"
"""The field that carries all arguments where there are too many layouts."""

_INT64_LIMIT = 2**63
_FLOW_FIELDS = ("nvtx.flow_out", "nvtx.flow_in")


@dataclass(frozen=True, eq=False)
class Layout:
    """The fields of a row, in order. There is one object a layout, compared by identity.

    ``kinds`` describes the message and then the arguments named ``keys``; ``width`` is the number
    of code points of every TEXT field; ``out`` and ``into`` are the number of flow ids.
    """

    event: EventKind
    keys: tuple[str, ...]
    kinds: str
    width: int
    out: int
    into: int
    is_mark: bool


class Encoder:
    """Turn an event's name, arguments and flows into a layout and the values of one row."""

    def __init__(self, strings: RepeatedStrings, max_layouts: int = MAX_LAYOUTS) -> None:
        self._strings = strings
        self._max_layouts = max_layouts
        self._layouts: dict[Any, Layout] = {}
        self.folded = 0
        self.changed_texts = 0

    def row(
        self,
        event: EventKind,
        head: tuple[int, ...],
        name: str,
        args: dict[str, Any],
        ends: Ends | None = None,
        *,
        register: bool = True,
    ) -> tuple[Layout, tuple[Any, ...]]:
        """Return the layout and the row; ``head`` holds the values of the leading fields.

        With ``register=False`` all texts travel as texts.
        """
        handles = self._strings.handles if register else {}
        values: list[Any] = [*head]
        kinds = ""
        for value in (name, *args.values()):
            kind = type(value)
            if kind is int and -_INT64_LIMIT <= value < _INT64_LIMIT:
                values.append(value)
                kinds += INT
            elif kind is str and (handle := handles.get(value)) is not None:
                values.append(handle)
                kinds += HANDLE
            elif value is not None:
                code, encoded = self._value(value, register)
                values.append(encoded)
                kinds += code
            else:
                kinds += _LEFT_OUT
        width = _width(values, len(head), kinds) if TEXT in kinds else 0
        slots = (0, 0) if ends is None else (_slots(ends.out), _slots(ends.into))
        # The hash of an enum member is computed in Python; its address is unique as well.
        key = id(event), tuple(args), kinds, width, slots
        layout = self._layouts.get(key)
        if layout is None:
            # Which texts are registered so far must not use up the layouts that arguments need.
            full = len(self._layouts) / self._max_layouts
            if full >= 0.5 and register and HANDLE in kinds and TEXT in kinds:
                return self.row(event, head, name, args, ends, register=False)
            if full >= 1 and args.keys() != {FOLDED}:
                self.folded += 1
                return self.row(event, head, name, {FOLDED: json_text(args)}, ends)
            layout = self._layouts[key] = _layout(event, *key[1:4], slots)
        if ends is not None:
            values += _flow_values(ends, layout)
        return layout, tuple(values)

    def _value(self, value: Any, register: bool) -> tuple[str, Any]:
        kind = type(value)
        if kind is int:
            if 0 <= value < 2 * _INT64_LIMIT:
                return UINT, value
        elif kind is Number:
            number = float(value)
            if math.isfinite(number):
                return FLOAT, number
        # Booleans, lists, objects and numbers that no field holds travel as JSON text.
        text = value if kind is str else json_text(value)
        handle = self._strings.handle(text) if register else None
        if handle is not None:
            return HANDLE, handle
        cleaned = clean(text)
        self.changed_texts += cleaned != text
        return TEXT, cleaned


def _layout(
    event: EventKind, keys: tuple[str, ...], kinds: str, width: int, slots: tuple[int, int]
) -> Layout:
    present = [(key, kind) for key, kind in zip(keys, kinds[1:], strict=True) if kind != _LEFT_OUT]
    return Layout(
        event,
        tuple(key for key, _ in present),
        kinds[0] + "".join(kind for _, kind in present),
        width,
        *slots,
        event is EventKind.MARK,
    )


def _width(values: list[Any], first: int, kinds: str) -> int:
    """Return the width that the longest of a row's texts needs."""
    present = kinds.replace(_LEFT_OUT, "")
    texts = zip(present, values[first:], strict=True)
    return text_width(max(len(value) for kind, value in texts if kind == TEXT))


def _flow_values(ends: Ends, layout: Layout) -> tuple[Any, ...]:
    slots = (ends.out, layout.out), (ends.into, layout.into)
    return tuple(_padded(identifiers, number) for identifiers, number in slots if number)


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
        for key, kind in zip(layout.keys, layout.kinds[1:], strict=True)
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
        return _annotated(np.uintp, entry_type=PayloadEntryType.REGISTERED_STRING)
    return np.dtype({INT: np.int64, UINT: np.uint64, FLOAT: np.float64}[kind])


def _role_field(role: EntryKind | PayloadEntryType) -> np.dtype[Any]:
    if isinstance(role, EntryKind):
        return _annotated(np.int64, entry_kind=role)
    storage = np.uint32 if role is PayloadEntryType.CATEGORY else np.uint64
    return _annotated(storage, entry_type=role)


def _message_field(layout: Layout) -> np.dtype[Any]:
    if layout.kinds[0] == TEXT:
        return _annotated(f"U{layout.width}", entry_kind=EntryKind.MESSAGE)
    handle = PayloadEntryType.REGISTERED_STRING
    return _annotated(np.uintp, entry_kind=EntryKind.MESSAGE, entry_type=handle)


def _annotated(storage: Any, **meaning: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = nvtx.numpy_dtype(storage, **meaning)
    return dtype


def plain_args(args: Any, beside: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an event's arguments with further fields of the event itself added.

    Arguments that are no object become one of the key ``args``.
    """
    plain = args if isinstance(args, dict) else {} if args is None else {"args": args}
    added = {(key if key not in plain else f"{key} (event)"): value for key, value in beside}
    return {**plain, **added} if added else plain
