# SPDX-License-Identifier: Apache-2.0
"""Read a trace through the perfetto package's protobufs, texts and times resolved."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
_TEXTS = ("event_names", "event_categories", "debug_annotation_names")


@dataclass
class Event:
    """A track event: its time on the file's clock, and its track's uuid."""

    kind: int
    time: int
    track: int
    name: str
    categories: list[str]
    args: dict[str, Any]
    value: float
    flows: list[int]


@dataclass
class Trace:
    """All events of a file in its order, and its tracks by uuid."""

    events: list[Event] = field(default_factory=list)
    tracks: dict[int, Any] = field(default_factory=dict)
    primary_clock: int = 0
    snapshots: list[dict[int, int]] = field(default_factory=list)

    def path(self, track: int) -> str:
        """Give the names of a track and of all above it."""
        names = []
        while track:
            found = self.tracks[track]
            names.append(_track_name(found))
            track = found.parent_uuid
        return "/".join(reversed(names))

    def series(self, name: str) -> list[tuple[int, float]]:
        """Give a counter's samples in time order."""
        named = {uuid for uuid, track in self.tracks.items() if track.name == name}
        return sorted((e.time, e.value) for e in self.events if e.track in named)

    def ranges(self) -> dict[str, tuple[int, int | None]]:
        """Give begin and end of every slice by name; instants have equal ones."""
        found: dict[str, tuple[int, int | None]] = {}
        open_names: dict[int, list[str]] = defaultdict(list)
        for event in sorted(self.events, key=lambda e: e.time):
            if event.kind == BEGIN:
                open_names[event.track].append(event.name)
                found[event.name] = (event.time, None)
            elif event.kind == END:
                name = open_names[event.track].pop()
                found[name] = (found[name][0], event.time)
            elif event.kind == INSTANT and event.name != "nvtx-perfetto summary":
                found[event.name] = (event.time, event.time)
        return found

    @property
    def summary(self) -> dict[str, Any]:
        (found,) = (e for e in self.events if e.name == "nvtx-perfetto summary")
        return found.args["summary"]

    def event(self, name: str) -> Event:
        (found,) = (e for e in self.events if e.name == name)
        return found


def read(path: Path) -> Trace:
    """Read a whole file; raises where it is not whole packets."""
    trace = Trace()
    file = protos.Trace.FromString(path.read_bytes())
    texts: dict[int, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    tracks: dict[int, int] = {}
    times: dict[int, int] = {}
    for packet in file.packet:
        sequence = packet.trusted_packet_sequence_id
        if packet.sequence_flags & 1:
            texts[sequence].clear()
            tracks[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if packet.HasField("clock_snapshot"):
            _read_snapshot(trace, packet.clock_snapshot, times, sequence)
        known = texts[sequence]
        for table in _TEXTS:
            known[table].update((e.iid, e.name) for e in getattr(packet.interned_data, table))
        for entry in packet.interned_data.debug_annotation_string_values:
            known["values"][entry.iid] = entry.str.decode()
        if packet.HasField("track_descriptor"):
            trace.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            times[sequence] += packet.timestamp
            event = _event(packet.track_event, known, times[sequence], tracks[sequence])
            trace.events.append(event)
    return trace


def _read_snapshot(trace: Trace, snapshot: Any, times: dict[int, int], sequence: int) -> None:
    if snapshot.primary_trace_clock:
        trace.primary_clock = snapshot.primary_trace_clock
    clocks = {clock.clock_id: clock.timestamp for clock in snapshot.clocks}
    if 64 in clocks:
        times[sequence] = clocks[64]
    elif clocks:
        trace.snapshots.append(clocks)


def _event(event: Any, known: dict[str, dict[int, str]], time: int, track: int) -> Event:
    return Event(
        kind=event.type,
        time=time,
        track=track,
        name=known["event_names"][event.name_iid] if event.name_iid else "",
        categories=[known["event_categories"][iid] for iid in event.category_iids],
        args={
            known["debug_annotation_names"][a.name_iid]: _value(a, known)
            for a in event.debug_annotations
        },
        value=event.counter_value
        if event.HasField("counter_value")
        else event.double_counter_value,
        flows=list(event.flow_ids),
    )


def _value(annotation: Any, known: dict[str, dict[int, str]]) -> Any:
    kind = annotation.WhichOneof("value")
    if kind == "string_value_iid":
        return known["values"][annotation.string_value_iid]
    if kind is not None:
        return getattr(annotation, kind)
    if annotation.array_values:
        return [_value(each, known) for each in annotation.array_values]
    names = known["debug_annotation_names"]
    return {names[each.name_iid]: _value(each, known) for each in annotation.dict_entries}


def _track_name(track: Any) -> str:
    if track.HasField("thread"):
        return f"thread {track.thread.pid} {track.thread.tid} {track.thread.thread_name}"
    if track.HasField("process"):
        return f"process {track.process.pid} {track.process.process_name}"
    return str(track.name)
