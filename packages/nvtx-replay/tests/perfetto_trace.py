# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto trace's events by the `perfetto` package's protobufs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

# From clock_snapshot.proto: ids from 64 up belong to a sequence.
_FIRST_OWN_CLOCK = 64


@dataclass
class _Sequence:
    """What earlier packets of a sequence say about later ones."""

    track: int = 0
    clock: int = 0
    times: dict[int, int] = field(default_factory=dict)
    names: dict[str, dict[int, str]] = field(default_factory=dict)

    def remember(self, packet: Any) -> None:
        """Take over defaults, clocks and interned names."""
        if packet.sequence_flags & 1:
            self.names.clear()
        defaults = packet.trace_packet_defaults
        if packet.HasField("trace_packet_defaults"):
            self.track = defaults.track_event_defaults.track_uuid
            self.clock = defaults.timestamp_clock_id
        for clock in packet.clock_snapshot.clocks:
            self.times[clock.clock_id] = clock.timestamp
        for kind in ("event_names", "event_categories", "debug_annotation_names"):
            for entry in getattr(packet.interned_data, kind):
                self.names.setdefault(kind, {})[entry.iid] = entry.name

    def time(self, packet: Any) -> int:
        """Return a packet's time; a sequence's own clock counts from packet to packet."""
        clock = packet.timestamp_clock_id or self.clock
        if clock < _FIRST_OWN_CLOCK:
            return int(packet.timestamp)
        self.times[clock] += packet.timestamp
        return self.times[clock]


class PerfettoTrace:
    """The slices, instants and counter samples of a trace, with the names of their tracks."""

    def __init__(self, path: Path) -> None:
        trace = proto.Trace()
        trace.ParseFromString(path.read_bytes())
        self.slices: list[tuple[str, str, int, int, dict[str, Any]]] = []
        self.instants: list[tuple[str, str, int, dict[str, Any]]] = []
        self.samples: list[tuple[str, int, float]] = []
        self.units: dict[str, str] = {}
        self._tracks = {
            packet.track_descriptor.uuid: packet.track_descriptor
            for packet in trace.packet
            if packet.HasField("track_descriptor")
        }
        self._sequences: dict[int, _Sequence] = {}
        self._open: dict[int, list[tuple[str, int, dict[str, Any]]]] = {}
        for packet in trace.packet:
            self._read(packet)
        assert not any(self._open.values()), "a slice was never ended"

    def _read(self, packet: Any) -> None:
        sequence = self._sequences.setdefault(packet.trusted_packet_sequence_id, _Sequence())
        sequence.remember(packet)
        if not packet.HasField("track_event"):
            return
        event, time = packet.track_event, sequence.time(packet)
        uuid = event.track_uuid or sequence.track
        track = self._tracks[uuid]
        name = sequence.names.get("event_names", {}).get(event.name_iid, event.name)
        if event.type == event.TYPE_SLICE_BEGIN:
            self._open.setdefault(uuid, []).append((name, time, _arguments(event, sequence)))
        elif event.type == event.TYPE_SLICE_END:
            begun, begin, arguments = self._open[uuid].pop()
            self.slices.append((self._stream(track), begun, begin, time, arguments))
        elif event.type == event.TYPE_INSTANT:
            self.instants.append((self._stream(track), name, time, _arguments(event, sequence)))
        else:
            value = event.counter_value if event.HasField("counter_value") else None
            self.samples.append(
                (track.name, time, event.double_counter_value if value is None else value)
            )
            self.units[track.name] = track.counter.unit_name

    def _stream(self, track: Any) -> str:
        """Return the name of the stream that a track belongs to: the one below the root."""
        while track.parent_uuid and self._tracks[track.parent_uuid].parent_uuid:
            track = self._tracks[track.parent_uuid]
        return str(track.name)


def _arguments(event: Any, sequence: _Sequence) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for annotation in event.debug_annotations:
        _flatten(annotation, "", sequence.names["debug_annotation_names"], out)
    names = sequence.names.get("event_categories", {})
    out["category"] = ",".join([names[iid] for iid in event.category_iids] + [*event.categories])
    return out


def _flatten(annotation: Any, prefix: str, names: dict[int, str], out: dict[str, Any]) -> None:
    name = prefix + (names.get(annotation.name_iid) or annotation.name)
    for entry in annotation.dict_entries:
        _flatten(entry, f"{name}.", names, out)
    kind = annotation.WhichOneof("value")
    if kind is not None:
        out[name] = getattr(annotation, kind)
