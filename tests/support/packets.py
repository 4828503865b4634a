# SPDX-License-Identifier: Apache-2.0
"""A second reader, by the raw packets, for what the trace processor accepts in silence.

It resolves interning, per-sequence clocks and defaults on its own, and lists as `faults`: a last
packet cut short, an empty file, state used before it was cleared, ids never interned, tracks
never described, ends without begins, ranges never ended, ends that carry a name, and argument
keys that the engine makes equal.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.annotations import flatten
from support.rows import Arguments
from support.sequence import Sequence

_PACKET_TAG = 0x0A  # Trace.packet: field 1, length-delimited


@dataclass(frozen=True)
class PacketEvent:
    """One track event: `ts` in its clock's nanoseconds, `kind` such as SLICE_BEGIN."""

    kind: str
    track: int
    ts: int
    clock: int
    name: str | None
    categories: tuple[str, ...]
    flow_ids: tuple[int, ...]
    value: float | None
    args: Arguments = field(hash=False)


@dataclass
class PacketTrace:
    """All descriptors and events of a file, and the faults found on the way."""

    tracks: dict[int, Any] = field(default_factory=dict)
    events: list[PacketEvent] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    clocks: list[dict[int, int]] = field(default_factory=list)
    primary_clocks: list[int] = field(default_factory=list)
    packets: int = 0

    @classmethod
    def read(cls, path: str | Path) -> PacketTrace:
        """Read a whole file."""
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

        trace = cls()
        sequences: dict[int, Sequence] = {}
        for body in _packets(Path(path).read_bytes(), trace.faults):
            packet = messages.TracePacket.FromString(body)
            trace.packets += 1
            number = packet.trusted_packet_sequence_id
            trace._take(packet, sequences.setdefault(number, Sequence(number, trace.faults)))
        trace._check_tracks()
        trace._check_nesting()
        return trace

    def tracks_named(self, name: str, parent: int | None = None) -> list[int]:
        """Uuids of the tracks of a name, optionally under one parent: a stream and its lanes."""
        return [
            uuid
            for uuid, track in self.tracks.items()
            if track.name == name and parent in (None, track.parent_uuid)
        ]

    def counts(self) -> dict[int, Counter[str]]:
        """Per track, how many events of each kind it holds."""
        found: dict[int, Counter[str]] = defaultdict(Counter)
        for event in self.events:
            found[event.track][event.kind] += 1
        return found

    def _take(self, packet: Any, sequence: Sequence) -> None:
        sequence.take(packet)
        if packet.HasField("track_descriptor"):
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("clock_snapshot"):
            snapshot = packet.clock_snapshot
            self.clocks.append({clock.clock_id: clock.timestamp for clock in snapshot.clocks})
            if snapshot.HasField("primary_trace_clock"):
                self.primary_clocks.append(snapshot.primary_trace_clock)
        if packet.HasField("track_event"):
            self.events.append(_event(packet, sequence))

    def _check_tracks(self) -> None:
        for uuid in {event.track for event in self.events} - set(self.tracks):
            self.faults.append(f"track {uuid} holds events but was never described")
        for uuid, track in self.tracks.items():
            parent = track.parent_uuid
            if parent and parent not in self.tracks:
                self.faults.append(f"track {uuid} ({track.name}) lies under unknown track {parent}")

    def _check_nesting(self) -> None:
        depth: Counter[int] = Counter()
        for event in sorted(self.events, key=lambda event: event.ts):  # stable: file order in ties
            if event.kind == "SLICE_BEGIN":
                depth[event.track] += 1
            elif event.kind == "SLICE_END":
                depth[event.track] -= 1
                if event.name is not None:
                    self.faults.append(f"an end at {event.ts} carries a name, {event.name!r}")
                if depth[event.track] < 0:
                    self.faults.append(f"an end at {event.ts} on {event.track} has no begin")
                    depth[event.track] = 0
        for track, left in depth.items():
            if left:
                self.faults.append(f"{left} ranges on track {track} are never ended")


def _event(packet: Any, sequence: Sequence) -> PacketEvent:
    event = packet.track_event
    clock, ts = sequence.time(packet)
    value: float | None = None
    if event.HasField("counter_value"):
        value = event.counter_value
    elif event.HasField("double_counter_value"):
        value = event.double_counter_value
    return PacketEvent(
        kind=event.Type.Name(event.type).removeprefix("TYPE_"),
        track=sequence.track(event),
        ts=ts,
        clock=clock,
        name=sequence.name(event),
        categories=sequence.categories(event),
        flow_ids=tuple(event.flow_ids),
        value=value,
        args=flatten(event, sequence),
    )


def _packets(data: bytes, faults: list[str]) -> Iterator[bytes]:
    """Cut a file into packets; name what is wrong with its frame."""
    if not data:
        faults.append("the file is empty")
    at = 0
    while at < len(data):
        start = at
        if data[at] != _PACKET_TAG:
            faults.append(f"byte {at} is {data[at]:#x}, expected the start of a packet")
            return
        size, at = _varint(data, at + 1)
        if size is None or at + size > len(data):
            faults.append(f"the packet at byte {start} is cut short")
            return
        yield data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int | None, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            return value, at
    return None, at
