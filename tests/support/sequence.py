# SPDX-License-Identifier: Apache-2.0
"""The state of one packet sequence: interned text, defaults and its own clock."""

from __future__ import annotations

from typing import Any

_FIRST_SEQUENCE_CLOCK = 64  # clock ids from here to 127 belong to a sequence alone
_LAST_SEQUENCE_CLOCK = 127
_CLEARED = 1  # TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
_NEEDED = 2  # TracePacket.SEQ_NEEDS_INCREMENTAL_STATE


class Sequence:
    """Follows a sequence packet by packet, as a reader must, and names what breaks its rules."""

    def __init__(self, number: int, faults: list[str]) -> None:
        self._number = number
        self._faults = faults
        self._fresh = True
        self._defaults: Any = None
        self._clear()

    def take(self, packet: Any) -> None:
        """Apply a packet's flags, interned data, defaults and clock snapshot."""
        if packet.sequence_flags & _CLEARED:
            self._clear()
            self._fresh = False
        elif self._fresh and packet.sequence_flags & _NEEDED:
            self.fault("needs state that was never cleared")
            self._fresh = False
        for entry in packet.interned_data.event_names:
            self._names[entry.iid] = entry.name
        for entry in packet.interned_data.event_categories:
            self._categories[entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_names:
            self._annotation_names[entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_string_values:
            self._annotation_texts[entry.iid] = entry.str.decode()
        if packet.HasField("trace_packet_defaults"):
            self._defaults = packet.trace_packet_defaults
        for clock in packet.clock_snapshot.clocks:
            if _own(clock.clock_id):
                self._take_clock(packet.clock_snapshot, clock)

    def time(self, packet: Any) -> tuple[int, int]:
        """The clock and time of a packet, followed back through the sequence's own clock."""
        clock = packet.timestamp_clock_id or self._defaults_clock()
        if not _own(clock):
            return clock, packet.timestamp
        if clock not in self._clocks:
            self.fault(f"uses clock {clock} without a snapshot of it")
            return clock, packet.timestamp
        state = self._clocks[clock]
        now = packet.timestamp
        if state["incremental"]:
            state["now"] += packet.timestamp
            now = state["now"]
        return state["base"], state["origin"] + (now - state["start"]) * state["unit"]

    def track(self, event: Any) -> int:
        """The track an event is on, by itself or by default."""
        if event.HasField("track_uuid") or self._defaults is None:
            return int(event.track_uuid)
        return int(self._defaults.track_event_defaults.track_uuid)

    def name(self, event: Any) -> str | None:
        """The event's name, if it has one."""
        if event.HasField("name"):
            return str(event.name)
        if event.HasField("name_iid"):
            return self._interned(self._names, event.name_iid, "event name")
        return None

    def categories(self, event: Any) -> tuple[str, ...]:
        """The event's categories in order."""
        return (
            *(self._interned(self._categories, iid, "category") for iid in event.category_iids),
            *event.categories,
        )

    def annotation_name(self, note: Any) -> str:
        """The key of a debug annotation."""
        if note.HasField("name_iid"):
            return self._interned(self._annotation_names, note.name_iid, "annotation name")
        return str(note.name)

    def annotation_text(self, iid: int) -> str:
        """An interned text value of a debug annotation."""
        return self._interned(self._annotation_texts, iid, "annotation text")

    def fault(self, text: str) -> None:
        """Note what is wrong with this sequence."""
        self._faults.append(f"sequence {self._number} {text}")

    def _clear(self) -> None:
        self._names: dict[int, str] = {}
        self._categories: dict[int, str] = {}
        self._annotation_names: dict[int, str] = {}
        self._annotation_texts: dict[int, str] = {}
        self._defaults = None
        self._clocks: dict[int, dict[str, int]] = {}

    def _defaults_clock(self) -> int:
        return 0 if self._defaults is None else int(self._defaults.timestamp_clock_id)

    def _take_clock(self, snapshot: Any, clock: Any) -> None:
        bases = [other for other in snapshot.clocks if not _own(other.clock_id)]
        unit = clock.unit_multiplier_ns or 1
        start = clock.timestamp
        self._clocks[clock.clock_id] = {
            "incremental": int(clock.is_incremental),
            "now": start,
            "start": start if bases else 0,
            "origin": bases[0].timestamp if bases else 0,
            "base": bases[0].clock_id if bases else clock.clock_id,
            "unit": unit,
        }

    def _interned(self, table: dict[int, str], iid: int, what: str) -> str:
        if iid not in table:
            self.fault(f"uses {what} {iid} that was never interned")
        return table.get(iid, f"<{iid}>")


def _own(clock: int) -> bool:
    return _FIRST_SEQUENCE_CLOCK <= clock <= _LAST_SEQUENCE_CLOCK
