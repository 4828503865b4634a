# SPDX-License-Identifier: Apache-2.0
"""Halves of ranges (B/E, b/e) joined into whole ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nvtx_replay.importers.chrome._text import json_text


@dataclass
class Half:
    """The begin of a range that waits for its end.

    ``begin`` is exact, in nanoseconds; ``event`` is the whole begin event.
    """

    begin: int | Fraction
    event: dict[str, Any]
    owner: Hashable = None


class OpenRanges:
    """Stacks of begun ranges by key; an end closes the innermost one that it fits."""

    def __init__(self) -> None:
        self._stacks: dict[Hashable, list[Half]] = {}

    def begin(self, key: Hashable, half: Half) -> None:
        """Push the begin of a range."""
        self._stacks.setdefault(key, []).append(half)

    def end(self, key: Hashable, name: Any = None) -> Half | None:
        """Take the begin that an end belongs to, or None if nothing is open.

        The format lets an end go without a name. One that has a name closes the innermost range of
        that name, or the innermost of all if none is called so.
        """
        stack = self._stacks.get(key)
        if stack is None:
            return None
        half = stack.pop(_innermost(stack, name))
        # Nearly every asynchronous range has a key of its own, so that keys would pile up.
        if not stack:
            del self._stacks[key]
        return half

    def left_open(self) -> Iterator[tuple[Hashable, Half]]:
        """Yield every range that has not ended, outermost first."""
        for key, stack in self._stacks.items():
            for half in stack:
                yield key, half


def _innermost(stack: list[Half], name: Any) -> int:
    if name is not None:
        for at in range(len(stack) - 1, -1, -1):
            if stack[at].event.get("name") == name:
                return at
    return -1


def async_key(event: dict[str, Any]) -> Hashable:
    """Return what the halves of one asynchronous range share.

    ``id`` and ``id2.global`` are one for all processes; ``id2.local`` belongs to its process.
    """
    scoped = event.get("id2")
    category, scope = _hashable(event.get("cat")), _hashable(event.get("scope"))
    if isinstance(scoped, dict) and "local" in scoped:
        return "local", _hashable(event.get("pid")), category, scope, _hashable(scoped["local"])
    identifier = scoped.get("global") if isinstance(scoped, dict) else event.get("id")
    return "global", category, scope, _hashable(identifier)


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else json_text(value)


def merged(begin: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    """Return the begin event with the end event's arguments added; equal keys are the end's."""
    added = end.get("args")
    if not added:
        return begin
    args = begin.get("args")
    if isinstance(args, dict) and isinstance(added, dict):
        return {**begin, "args": {**args, **added}}
    return {**begin, "args": added} if not args else begin
