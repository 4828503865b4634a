# SPDX-License-Identifier: Apache-2.0
"""Debug annotations of a raw packet, flattened to the keys that a user sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from support.rows import Arguments, Value

if TYPE_CHECKING:
    from support.sequence import Sequence

_SANITIZED = str.maketrans(".[]", "___")


def flatten(event: Any, sequence: Sequence) -> Arguments:
    """Arguments of an event by key; a key that comes twice, also to the engine, is a fault.

    The engine turns `.`, `[` and `]` inside a key into `_` and keeps the last of equal keys, so
    that an argument can vanish without a word.
    """
    found: Arguments = {}
    seen: set[str] = set()
    for note in event.debug_annotations:
        name = sequence.annotation_name(note)
        for key, engine_key, value in _leaves(note, name, name.translate(_SANITIZED), sequence):
            if engine_key in seen:
                sequence.fault(f"has two arguments that the engine calls {engine_key!r}")
            seen.add(engine_key)
            found[key] = value
    return found


def _leaves(
    note: Any, key: str, engine_key: str, sequence: Sequence
) -> Iterator[tuple[str, str, Value]]:
    if note.dict_entries:
        for entry in note.dict_entries:
            name = sequence.annotation_name(entry)
            below = f"{engine_key}.{name.translate(_SANITIZED)}"
            yield from _leaves(entry, f"{key}.{name}", below, sequence)
    elif note.array_values:
        for at, item in enumerate(note.array_values):
            yield from _leaves(item, f"{key}[{at}]", f"{engine_key}[{at}]", sequence)
    else:
        yield key, engine_key, _scalar(note, sequence)


def _scalar(note: Any, sequence: Sequence) -> Value:
    kind = note.WhichOneof("value")
    if kind is None:
        return None
    if kind == "string_value_iid":
        return sequence.annotation_text(note.string_value_iid)
    value = getattr(note, kind)
    assert isinstance(value, (bool, int, float, str)), f"an annotation holds a {kind}"
    return value
