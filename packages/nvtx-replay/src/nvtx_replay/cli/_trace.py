# SPDX-License-Identifier: Apache-2.0
"""What a Perfetto trace holds, found in one pass over its packets.

Field numbers are those of Perfetto's ``trace_packet.proto``, ``track_event.proto``,
``track_descriptor.proto`` and ``clock_snapshot.proto``.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nvtx_replay.cli._packets import PACKET_TAG, PacketReader
from nvtx_replay.cli._protobuf import WireError, fields, signed, text, varint

SUMMARY = "nvtx-perfetto summary"
_TYPES = {1: "slices", 2: "slice_ends", 3: "instants", 4: "counter_samples"}
# The summary's own sequence, and the descriptions of tracks that may follow it.
_SUMMARY_PACKETS = 64
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
    offsets: dict[int, int] = field(default_factory=dict)
    running: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    summaries: set[int] = field(default_factory=set)

    def time(self, clock: int, value: int) -> int:
        if clock in self.running:
            self.running[clock] += value
            return self.running[clock] + self.offsets[clock]
        return value + self.offsets.get(clock, 0)


def is_trace(head: bytes) -> bool:
    """Return whether a file that begins so is a Perfetto trace: its first packet must parse."""
    if not head or head[0] != PACKET_TAG:
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
    walk.run(PacketReader(path))
    return walk.info


def read_summary(path: Path) -> Counter[str]:
    """Return what the backend counted while it wrote a session, which stands at the file's end."""
    walk = _Walk()
    for packet in deque(PacketReader(path), maxlen=_SUMMARY_PACKETS):
        walk.read_packet(packet)
    return walk.info.summary


class _Walk:
    def __init__(self) -> None:
        self.info = TraceInfo()
        self._sequences: dict[int, _Sequence] = {}
        self._handlers = (
            (59, self._defaults),
            (6, self._clocks),
            (60, self._descriptor),
            (12, self._interned),
        )

    def run(self, packets: PacketReader) -> None:
        for packet in packets:
            try:
                self.read_packet(packet)
            except WireError as error:
                self.info.cut = f"{error}, in the packet at byte {packets.begin}"
                return
            self.info.packets += 1
        self.info.cut = packets.cut

    def read_packet(self, data: bytes) -> None:
        found = {number: value for number, value in fields(data)}  # noqa: C416 - the last one wins
        key = _number(found.get(10))
        sequence = self._sequences.get(key)
        if sequence is None:
            sequence = self._sequences[key] = _Sequence()
        if 13 in found and _number(found[13]) & 1:
            sequence.names.clear()
            sequence.summaries.clear()
        for number, handler in self._handlers:
            if number in found:
                handler(sequence, found[number])
        if 11 in found:
            clock = _number(found.get(58)) or sequence.clock
            self._event(sequence, found[11], sequence.time(clock, _number(found.get(8))))

    def _defaults(self, sequence: _Sequence, data: Any) -> None:
        for number, value in fields(data):
            if number == 58:
                sequence.clock = _number(value)

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

    def _descriptor(self, _: _Sequence, data: Any) -> None:
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
            if number in (2, 3):
                entry = dict(fields(value))  # type: ignore[arg-type]
                iid, name = _number(entry.get(1)), text(entry.get(2, 0))
                if number == 3:
                    sequence.names[iid] = name
                elif name == SUMMARY:
                    sequence.summaries.add(iid)

    def _event(self, sequence: _Sequence, data: Any, time: int) -> None:
        kind, is_summary, notes = 0, False, []
        for number, value in fields(data):
            if number == 9:
                kind = _number(value)
            elif number == 10:
                is_summary = value in sequence.summaries
            elif number == 4:
                notes.append(value)
        if is_summary:
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
