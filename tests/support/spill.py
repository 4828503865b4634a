# SPDX-License-Identifier: Apache-2.0
"""A reader of spill files that shares no code with the library: what a killed session left."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

_HEAD = 128
_BLOCK = struct.Struct("<IIIIQQQ")
_RECORD = struct.Struct("<qqII")
_ROW = struct.Struct("<II")
_MAGIC = 0x6B6C4273


class Kind(IntEnum):
    """What a block of a spill file holds."""

    SCRATCH = 0
    DEFINITIONS = 1
    EVENTS = 2
    HALVES = 3
    SAMPLES = 4
    RANGE_HALVES = 5
    DEFERRED = 6
    ENDING = 7


@dataclass(frozen=True)
class Record:
    """One record of a run: its two keys, its tag and its bytes."""

    first: int
    second: int
    tag: int
    body: bytes


@dataclass(frozen=True)
class Block:
    """A block; `subject` is a counter's id, or the output's size when the session began to end."""

    kind: Kind
    stream: int
    whole: bool
    subject: int
    records: int
    body: bytes

    def walk(self) -> Iterator[Record]:
        """Give the records of a run, in order."""
        at = 0
        for _ in range(self.records):
            first, second, size, tag = _RECORD.unpack_from(self.body, at)
            at += _RECORD.size
            yield Record(first, second, tag, self.body[at : at + size])
            at += _padded(size)


def blocks(path: Path) -> list[Block]:
    """Read all blocks of a spill file, whole or not, as far as the file goes."""
    data = path.read_bytes()
    found = []
    at = _HEAD
    while at + _BLOCK.size <= len(data):
        magic, kind, stream, whole, subject, size, records = _BLOCK.unpack_from(data, at)
        assert magic == _MAGIC
        at += _BLOCK.size
        body = data[at : at + size]
        whole = whole == 1 and len(body) == size
        found.append(Block(Kind(kind), stream, whole, subject, records, body))
        at += _padded(size)
    return found


def whole_records(path: Path) -> int:
    """Count the records of whole runs, reading no more than the blocks' heads."""
    total = 0
    with path.open("rb") as file:
        file.seek(_HEAD)
        while len(head := file.read(_BLOCK.size)) == _BLOCK.size:
            _, kind, _, whole, _, size, records = _BLOCK.unpack(head)
            total += records if whole and Kind.EVENTS <= kind <= Kind.DEFERRED else 0
            file.seek(_padded(size), os.SEEK_CUR)
    return total


def rows(packed: bytes) -> list[bytes]:
    """Take packed rows apart."""
    found = []
    at = 0
    while at < len(packed):
        _, size = _ROW.unpack_from(packed, at)
        at += _ROW.size
        found.append(packed[at : at + size])
        at += _padded(size)
    return found


def _padded(size: int) -> int:
    return (size + 7) // 8 * 8
