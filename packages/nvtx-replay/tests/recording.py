# SPDX-License-Identifier: Apache-2.0
"""Reads what the recording backend wrote: calls, and the rows in them by field name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from nvtx import BatchOrdering, EventKind

# From nvToolsExtPayload.h: what nvtx's Python package sends.
_NUMBERS = {
    11: "i1", 12: "u1", 13: "i2", 14: "u2", 15: "i4", 16: "u4", 17: "i8", 18: "u8",
    42: "f2", 43: "f4", 44: "f8", 67: "u8", 68: "u4", 69: "u4", 70: "u8",
}  # fmt: skip
_UTF8, _UTF32, _STRING = 76, 78, 80
_FIXED_ARRAY = 1 << 4
_MESSAGE = 1 << 10
_ROLES = {6144: "begin", 10240: "end", 14336: "begin"}
_KINDS = {kind.value: kind.name.lower().removeprefix("range_") for kind in EventKind}


@dataclass
class Call:
    """One call of the backend."""

    member: str
    values: dict[str, Any] = field(default_factory=dict)
    entries: list[tuple[int, int, int, int, str]] = field(default_factory=list)
    payloads: list[tuple[int, bytes]] = field(default_factory=list)


class Recording:
    """The calls of one session."""

    def __init__(self, path: Path) -> None:
        self.calls = [_call(line) for line in path.read_text().splitlines()]
        self._schemas = {c.values["id"]: c for c in self.members("SchemaRegister")}
        self._strings = {c.values["id"]: c.values["text"] for c in self.members("StringRegister")}
        self._categories = {
            c.values["category"]: c.values["name"] for c in self.members("CategoryRegister")
        }

    def members(self, *names: str) -> list[Call]:
        """Return the calls of some members."""
        return [call for call in self.calls if call.member in names]

    @property
    def written(self) -> list[str]:
        """The members called that write or register anything within a stream."""
        quiet = ("SessionBegin", "SessionEnd", "DomainRegister", "StreamOpen", "StreamClose")
        return [call.member for call in self.calls if call.member not in quiet]

    @property
    def strings(self) -> list[str]:
        """The registered strings, in order."""
        return list(self._strings.values())

    @property
    def claims(self) -> list[BatchOrdering]:
        """What each batch promised about its order."""
        batches = self.members("EventBatchWrite", "CounterBatchWrite")
        return [BatchOrdering(call.values["flags"]) for call in batches]

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every event in the order of writing: kind, begin, end, message and payload fields."""
        rows = []
        for call in self.members("EventWrite", "EventBatchWrite"):
            (schema, data), *more = call.payloads
            rows += self._rows(self._schemas[schema], data)
            for extra, text in more:
                (entry,) = self._schemas[extra].entries
                rows[-1]["message" if entry[0] & _MESSAGE else entry[4]] = text.rstrip(
                    b"\0"
                ).decode()
        return rows

    @property
    def samples(self) -> list[tuple[str, int, Any]]:
        """Every sample: counter, time, and its value, a tuple of a group's, or None for a gap."""
        names = {c.values["id"]: c for c in self.members("CounterRegister")}
        out: list[tuple[str, int, Any]] = []
        for call in self.members("CounterBatchWrite", "CounterWrite", "CounterNoValueWrite"):
            counter = names[call.values["counter"]]
            times, values = [call.values.get("time")], [None]
            if call.payloads:
                values = self._values(counter.values["schema"], call.payloads[0][1])
            if "times" in call.values:
                times = np.frombuffer(call.values["times"], np.int64).tolist()
            out += zip([counter.values["name"]] * len(times), times, values, strict=True)
        return out

    def _values(self, schema: int, data: bytes) -> list[Any]:
        if schema in _NUMBERS:
            return list(np.frombuffer(data, _NUMBERS[schema]).tolist())
        return [tuple(row.values())[1:] for row in self._rows(self._schemas[schema], data)]

    def _rows(self, schema: Call, data: bytes) -> list[dict[str, Any]]:
        kind = _KINDS.get(schema.values["flags"] & 0x78, "counter")
        size = schema.values["size"]
        return [
            {"kind": kind, **self._fields(schema, data[at : at + size])}
            for at in range(0, len(data), size)
        ]

    def _fields(self, schema: Call, row: bytes) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for flags, kind, offset, count, name in schema.entries:
            value = self._value(kind, row[offset:], count if flags & _FIXED_ARRAY or count else 0)
            if flags & _MESSAGE:
                out["message"] = value
            elif flags in _ROLES:
                out[_ROLES[flags]] = value
            elif kind == 68:
                out["category"] = self._categories.get(value, value)
            else:
                out[name] = value
        return out

    def _value(self, kind: int, data: bytes, count: int) -> Any:
        if kind == _UTF32:
            return data[: 4 * count].decode("utf-32-le").rstrip("\0")
        if kind == _STRING:
            return self._strings[int.from_bytes(data[:8], "little")]
        values = np.frombuffer(data, _NUMBERS[kind], max(count, 1)).tolist()
        return values if count else values[0]


def _call(line: str) -> Call:
    member, *parts = line.split(" ")
    call = Call(member)
    schema = 0
    for part in parts:
        key, _, text = part.partition("=")
        if key == "entry":
            *numbers, name = text.split(":")
            call.entries.append((*map(int, numbers), bytes.fromhex(name).decode()))  # type: ignore[arg-type]
        elif key == "data":
            call.payloads.append((schema, bytes.fromhex(text[1:])))
        elif text.startswith("x"):
            raw = bytes.fromhex(text[1:])
            call.values[key] = raw if key == "times" else raw.decode("utf-8", "surrogateescape")
        else:
            call.values[key] = int(text)
            schema = int(text) if key == "schema" else schema
    return call
