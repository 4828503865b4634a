# SPDX-License-Identifier: Apache-2.0
"""What a Perfetto trace holds, found in one pass over its packets.

Field numbers are those of Perfetto's ``trace_packet.proto``, ``track_event.proto``,
``track_descriptor.proto`` and ``clock_snapshot.proto``.
"""

from __future__ import annotations

import mmap
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nvtx_replay.cli._protobuf import Buffer, WireError, fields, signed, text, varint

SUMMARY = "nvtx-perfetto summary"
_PACKET_TAG = 0x0A
_TYPES = {1: "slices", 2: "slice_ends", 3: "instants", 4: "counter_samples"}
# Clock ids up to this are the machine's; higher ones are a sequence's own.
_LAST_BUILTIN_CLOCK = 63


@dataclass
class TraceInfo:
    """Counts of one trace.

    Attributes
    ----------
    processes, threads : dict
        Names by id.
    tracks : dict
        Names of the other tracks, by uuid.
    events : Counter
        Packets by kind.
    first_ns, last_ns : int or None
        The extent of the events.
    summary : Counter
        What the backend counted while it wrote, summed over parts.
    cut : str or None
        Why the last packet could not be read, if so.
    """

    processes: dict[int, str] = field(default_factory=dict)
    threads: dict[tuple[int, int], str] = field(default_factory=dict)
    tracks: dict[int, str] = field(default_factory=dict)
    counters: dict[int, str] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    packets: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    summary: Counter[str] = field(default_factory=Counter)
    cut: str | None = None

    def add_time(self, time: int) -> None:
        """Widen the extent."""
        if self.first_ns is None or time < self.first_ns:
            self.first_ns = time
        if self.last_ns is None or time > self.last_ns:
            self.last_ns = time


@dataclass
class _Sequence:
    """The state that packets of one sequence share."""

    clock: int = 0
    track: int = 0
    offsets: dict[int, int] = field(default_factory=dict)
    running: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def time(self, clock: int, value: int) -> int:
        if clock in self.running:
            self.running[clock] += value
            return self.running[clock] + self.offsets[clock]
        return value + self.offsets.get(clock, 0)


def is_trace(head: bytes) -> bool:
    """Return whether a file that begins so is a Perfetto trace: its first packet must parse."""
    if not head or head[0] != _PACKET_TAG:
        return False
    try:
        size, at = varint(head, 1)
        if at + size > len(head):
            return False
        return any(number in (6, 10, 60) for number, _ in fields(head[at : at + size]))
    except WireError:
        return False


def read_trace(path: Path) -> TraceInfo:
    """Walk over all packets; a file's last packet may be cut, which is noted."""
    walk = _Walk()
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as view,
    ):
        walk.run(view)
    return walk.info


class _Walk:
    def __init__(self) -> None:
        self.info = TraceInfo()
        self._sequences: dict[int, _Sequence] = {}

    def run(self, data: memoryview) -> None:
        at = 0
        while at < len(data):
            begin = at
            try:
                tag, at = varint(data, at)
                size, at = varint(data, at)
                if tag != _PACKET_TAG:
                    raise WireError(f"tag {tag} instead of a packet")
                if at + size > len(data):
                    raise WireError("a packet ends early")
                self._packet(data[at : at + size])
            except WireError as error:
                self.info.cut = f"{error}, at byte {begin}"
                return
            at += size
            self.info.packets += 1

    def _packet(self, data: Buffer) -> None:
        found = {number: value for number, value in fields(data)}  # noqa: C416 - the last one wins
        sequence = self._sequences.setdefault(_number(found.get(10)), _Sequence())
        if _number(found.get(13)) & 1:
            sequence.names.clear()
        if 59 in found:
            self._defaults(sequence, found[59])
        if 6 in found:
            self._clocks(sequence, found[6])
        if 60 in found:
            self._descriptor(found[60])
        if 12 in found:
            self._interned(sequence, found[12])
        if 11 in found:
            clock = _number(found.get(58)) or sequence.clock
            self._event(sequence, found[11], sequence.time(clock, _number(found.get(8))))

    def _defaults(self, sequence: _Sequence, data: Any) -> None:
        for number, value in fields(data):
            if number == 58:
                sequence.clock = _number(value)
            elif number == 11:
                sequence.track = next((_number(v) for n, v in fields(value) if n == 11), 0)  # type: ignore[arg-type]

    def _clocks(self, sequence: _Sequence, data: Any) -> None:
        clocks = []
        for number, value in fields(data):
            if number == 1:
                parts = dict(fields(value))  # type: ignore[arg-type]
                clocks.append([_number(parts.get(n)) for n in (1, 2, 3)])
        builtin = next((time for clock, time, _ in clocks if clock <= _LAST_BUILTIN_CLOCK), None)
        for clock, time, incremental in clocks:
            if clock > _LAST_BUILTIN_CLOCK and builtin is not None:
                sequence.offsets[clock] = builtin - time
                if incremental:
                    sequence.running[clock] = time

    def _descriptor(self, data: Any) -> None:
        found = dict(fields(data))
        uuid, info = _number(found.get(1)), self.info
        if 4 in found:
            thread = dict(fields(found[4]))  # type: ignore[arg-type]
            info.threads[signed(thread.get(1, 0)), signed(thread.get(2, 0))] = text(
                thread.get(5, 0)
            )
        elif 3 in found:
            process = dict(fields(found[3]))  # type: ignore[arg-type]
            info.processes[signed(process.get(1, 0))] = text(process.get(6, 0))
        elif 8 in found:
            info.counters[uuid] = text(found.get(2, 0))
        else:
            info.tracks[uuid] = text(found.get(2, 0))

    def _interned(self, sequence: _Sequence, data: Any) -> None:
        for number, value in fields(data):
            if number == 3:
                entry = dict(fields(value))  # type: ignore[arg-type]
                sequence.names[_number(entry.get(1))] = text(entry.get(2, 0))

    def _event(self, sequence: _Sequence, data: Any, time: int) -> None:
        kind, track, notes = 0, sequence.track, []
        for number, value in fields(data):
            if number == 9:
                kind = _number(value)
            elif number == 11:
                track = _number(value)
            elif number == 4:
                notes.append(value)
        if self.info.tracks.get(track) == SUMMARY:
            for note in notes:
                self._summary(sequence, note)
            return
        self.info.events[_TYPES.get(kind, "other")] += 1
        self.info.add_time(time)

    def _summary(self, sequence: _Sequence, note: Any) -> None:
        """Add the counts of one annotation: ``summary`` with entries, or ``summary.<kind>``."""
        name, count, entries = _annotation(sequence, note)
        for entry in entries:
            self._summary(sequence, entry)
        if not entries:
            self.info.summary[name.removeprefix("summary.")] += count


def _annotation(sequence: _Sequence, note: Any) -> tuple[str, int, list[Any]]:
    name, count, entries = "", 0, []
    for number, value in fields(note):
        if number == 1:
            name = sequence.names.get(_number(value), "")
        elif number == 10:
            name = text(value)
        elif number in (3, 4):
            count = signed(value)
        elif number == 11:
            entries.append(value)
    return name, count, entries


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
