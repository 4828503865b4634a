# SPDX-License-Identifier: Apache-2.0
"""
Which rows a killed session's spill file holds, and how a trace must show them.

A plain model of what `support.victim` writes: it takes the records from the file with
`support.spill` and pairs, nests and adds them up itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from support import spill, victim
from support.lanes import Range, place
from support.rows import Arguments, typed
from support.spill import Kind, Record

Row = tuple[object, ...]
SESSION = "killed"
# What the library takes for the end of a range that nothing ended.
NEVER = 2**63 - 1
# Bits of records' tags.
_PUSH = _START = 1
_FLOWS = 1 << 4


class Survivors:
    """The records of whole runs, by the kind of their run and their stream."""

    def __init__(self, path: Path) -> None:
        self.records: dict[tuple[Kind, str], list[Record]] = {}
        self.count = 0
        for block in spill.blocks(path):
            if not (block.whole and Kind.EVENTS <= block.kind <= Kind.DEFERRED):
                continue
            self.count += block.records
            key = (block.kind, victim.STREAMS[block.stream])
            if block.kind is Kind.SAMPLES:
                key = (block.kind, ("level", "steps")[block.subject & 0xFFFFFFFF])
            self.records.setdefault(key, []).extend(block.walk())

    def ranges(self, stream: str, layout: Any) -> list[Any]:
        """Give the rows of complete ranges of a stream."""
        found = self.records.get((Kind.EVENTS, stream), [])
        skip = [8 if record.tag & _FLOWS else 0 for record in found]
        return [
            _row(record.body[start:], layout) for record, start in zip(found, skip, strict=True)
        ]

    def halves(self) -> list[tuple[Any, int]]:
        """Pair pushes and pops in time; what nothing pops never ends."""
        found = sorted(self.records.get((Kind.HALVES, "halves"), []), key=lambda each: each.first)
        stack: list[Any] = []
        pairs = []
        for record in found:
            if record.tag & _PUSH:
                stack.append(_row(record.body[16:], victim.PUSH))
            elif stack:
                pairs.append((stack.pop(), record.first))
        return pairs + [(push, NEVER) for push in stack]

    def starts(self) -> list[tuple[Any, int]]:
        """Pair starts and ends by their id; ids are used once."""
        found = self.records.get((Kind.RANGE_HALVES, "closed"), [])  # the session's: stream 0
        ends = {record.first: record.second for record in found if not record.tag & _START}
        return [
            (_row(record.body[32:], victim.START), ends.get(record.first, NEVER))
            for record in found
            if record.tag & _START
        ]

    def samples(self, counter: str) -> list[tuple[int, int]]:
        """Give a counter's times and values, in the order of time."""
        found = self.records.get((Kind.SAMPLES, counter), [])
        return sorted((each.first, int.from_bytes(each.body, "little")) for each in found)


def _row(packed: bytes, layout: Any) -> Any:
    (row,) = spill.rows(packed)
    return np.frombuffer(row, layout)[0]


def rows_of_ranges(stream: str, ranges: Iterable[Any]) -> list[Row]:
    """The rows that `Slice.row` gives for complete ranges on one stack."""
    return rows_of_pairs(stream, [(row, int(row["end"])) for row in ranges])


def rows_of_pairs(stream: str, pairs: Sequence[tuple[Any, int]]) -> list[Row]:
    """The rows of ranges whose ends stand apart, on one stack."""
    ranges = [
        Range(name_of(row), int(row["begin"]), end, index) for index, (row, end) in enumerate(pairs)
    ]
    return [
        _shown((stream,), pairs[each.range.number], (each.depth, each.parent))
        for each in place(ranges)
    ]


def rows_of_async(stream: str, pairs: Iterable[tuple[Any, int]]) -> list[Row]:
    """The rows of ranges that have a lane each."""
    return [_shown((stream, "start/end ranges"), pair, (0, None)) for pair in pairs]


def rows_of_linked(ranges: Sequence[Any]) -> list[Row]:
    """The rows of ranges with arrows, one after the other; an arrow without its other end shows."""
    numbers = {int(row["number"]) for row in ranges}
    return [
        _shown(
            ("linked",),
            (row, int(row["end"])),
            (0, None),
            {}
            if int(row["number"]) ^ 1 in numbers
            else {
                f"payload.nvtx_flow_{way}": int(row[f"nvtx.flow_{way}"]) for way in ("out", "in")
            },
        )
        for row in ranges
    ]


def arrows(ranges: Sequence[Any]) -> list[Row]:
    """The arrows between ranges whose both ends are there, as `Flow.row` gives them."""
    by_number = {int(row["number"]): row for row in ranges}
    return [
        (name_of(row), int(row["begin"]), name_of(other), int(other["begin"]))
        for number, row in by_number.items()
        if number % 2 == 0 and (other := by_number.get(number + 1)) is not None
    ]


def _shown(
    path: tuple[str, ...],
    pair: tuple[Any, int],
    place_of: tuple[int, str | None],
    more: Arguments | None = None,
) -> Row:
    row, end = pair
    number, begin = int(row["number"]), int(row["begin"])
    category = "victim,odd" if number % 2 else "victim"
    dur = -1 if end == NEVER else end - begin
    args: Arguments = {"payload.number": number, **(more or {})}
    where = (None, None, (SESSION, *path), *place_of)
    return (*where, name_of(row), category, begin, dur, typed(args))


def name_of(row: Any) -> str:
    """The text behind a row's handle, which counts the strings of its domain."""
    return victim.NAMES[int(row["name"]) & 0xFFFFFFFF]
