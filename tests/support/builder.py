# SPDX-License-Identifier: Apache-2.0
"""Hand-made traces, for tests of the readers themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class TraceBuilder:
    """Collects packets of one sequence; a test changes what it wants to see found."""

    def __init__(self) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

        self.messages: Any = messages
        self.trace = messages.Trace()

    def packet(self) -> Any:
        """Add a packet; the first one clears the sequence's state."""
        packet = self.trace.packet.add(trusted_packet_sequence_id=1)
        if len(self.trace.packet) == 1:
            packet.sequence_flags = packet.SEQ_INCREMENTAL_STATE_CLEARED
        return packet

    def track(self, uuid: int, name: str | None = None, parent: int = 0) -> Any:
        """Describe a track."""
        track = self.packet().track_descriptor
        track.uuid = uuid
        track.parent_uuid = parent
        if name is not None:
            track.name = name
        return track

    def event(self, kind: str, track: int, ts: int, name: str | None = None) -> Any:
        """Add an event, such as SLICE_BEGIN."""
        packet = self.packet()
        packet.timestamp = ts
        event = packet.track_event
        event.type = event.Type.Value(f"TYPE_{kind}")
        event.track_uuid = track
        if name is not None:
            event.name = name
        return event

    def write(self, path: Path) -> Path:
        """Write the file."""
        path.write_bytes(self.trace.SerializeToString())
        return path
