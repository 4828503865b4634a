# SPDX-License-Identifier: Apache-2.0
"""The rows that a trace is compared by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | None
Arguments: TypeAlias = dict[str, Value]


@dataclass(frozen=True)
class Track:
    """A row's place: what it is called, under what, in which process and thread.

    The engine merges sibling tracks of one name and parent into one row of the UI and spreads
    their slices over as few tracks as it can, so `uuid` names only the first of them, and
    `lane` counts the engine's tracks, not the file's: `PacketTrace` knows those.
    """

    id: int
    uuid: int | None
    name: str | None
    parent: str | None
    path: tuple[str, ...]
    lane: int = 0
    process: tuple[int, str | None] | None = None
    thread: tuple[int, str | None] | None = None
    unit: str | None = None
    description: str | None = None

    def place(self) -> tuple[object, ...]:
        """Everything but the engine's own numbers."""
        return (self.process, self.thread, self.path)


@dataclass(frozen=True)
class Slice:
    """A range or an instant: `dur` is 0 for an instant and -1 when it was never ended."""

    id: int
    track: Track
    depth: int
    parent_id: int | None
    parent: str | None
    name: str | None
    category: str | None
    ts: int
    dur: int
    args: Arguments = field(hash=False)

    def row(self) -> tuple[object, ...]:
        """The whole row, without the engine's own ids: what two traces are compared by."""
        return (
            *self.track.place(),
            self.depth,
            self.parent,
            self.name,
            self.category,
            self.ts,
            self.dur,
            typed(self.args),
        )


@dataclass(frozen=True)
class CounterSample:
    """One value of a counter; None is a gap."""

    track: Track
    ts: int
    value: float | None


@dataclass(frozen=True)
class Flow:
    """An arrow from one slice to another."""

    source: Slice
    target: Slice

    def row(self) -> tuple[object, ...]:
        """Names and times of both ends."""
        return (self.source.name, self.source.ts, self.target.name, self.target.ts)


def typed(args: Arguments) -> tuple[tuple[str, str, str], ...]:
    """Arguments as sorted (key, type, value) text: 1, 1.0 and True differ, NaN is NaN."""
    return tuple((key, type(value).__name__, repr(value)) for key, value in sorted(args.items()))
