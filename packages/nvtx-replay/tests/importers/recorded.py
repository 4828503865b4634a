# SPDX-License-Identifier: Apache-2.0
"""What a recording writer backend was handed, decoded to plain rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

_STORAGE = {17: "i8", 18: "u8", 44: "f8", 67: "u8", 68: "u4", 80: "u8"}
_UTF32, _HANDLE, _CATEGORY, _RANGE_ID = 78, 80, 68, 67
_MESSAGE, _TIMESTAMP = 1 << 10, 2 << 10
_KINDS = {16: "range", 24: "async range", 32: "mark", 40: "push", 56: "start"}


@dataclass(frozen=True)
class Row:
    """One event: where it was written, when, and with what."""

    kind: str
    stream: str
    path: str | None
    begin: int
    end: int | None
    name: str
    category: str
    args: dict[str, Any] = field(hash=False)


@dataclass
class Recording:
    """A whole session."""

    rows: list[Row] = field(default_factory=list)
    samples: dict[str, list[tuple[int, float | None]]] = field(default_factory=dict)
    counter_units: dict[str, str | None] = field(default_factory=dict)
    counter_paths: dict[str, str | None] = field(default_factory=dict)
    time_domains: set[int] = field(default_factory=set)
    schemas: int = 0
    registered: int = 0

    def named(self, name: str) -> Row:
        """Return the one row of that name."""
        (row,) = [row for row in self.rows if row.name == name]
        return row

    def spans(self) -> list[tuple[str, int, int | None]]:
        """Return (name, begin, end) of all rows, sorted."""
        return sorted(
            ((row.name, row.begin, row.end) for row in self.rows),
            key=lambda span: (span[1], span[0], span[2] or 0),
        )

    def edges(self) -> list[tuple[str, int, str, int]]:
        """Return flows as (from name, begin, to name, begin), sorted."""
        sources = {i: row for row in self.rows for i in _ids(row, "nvtx.flow_out")}
        targets = {i: row for row in self.rows for i in _ids(row, "nvtx.flow_in")}
        assert sources.keys() == targets.keys()
        ends = ((sources[i], targets[i]) for i in sources)
        return sorted((a.name, a.begin, b.name, b.begin) for a, b in ends)


def _ids(row: Row, key: str) -> list[int]:
    value = row.args.get(key, 0)
    return [i for i in (value if isinstance(value, list) else [value]) if i]


@dataclass
class _State:
    texts: dict[int, str] = field(default_factory=dict)
    categories: dict[int, str] = field(default_factory=lambda: {0: ""})
    scopes: dict[int, str] = field(default_factory=dict)
    schemas: dict[int, tuple[int, list[list[Any]], int]] = field(default_factory=dict)
    counters: dict[int, tuple[str, str]] = field(default_factory=dict)
    streams: dict[int, tuple[str, str | None]] = field(default_factory=dict)


def parse(log: str) -> Recording:
    """Decode the recorder's lines."""
    recording, state = Recording(), _State()
    for line in log.splitlines():
        member, *words = line.split(" ")
        pairs = [word.split("=", 1) for word in words]
        fields = {key: _plain(value) for key, value in pairs if key != "entry"}
        entries = [value.split(":") for key, value in pairs if key == "entry"]
        if member in ("EventWrite", "EventBatchWrite"):
            recording.rows += _rows(fields, state)
        elif member.endswith(("Register", "Open")):
            _register(member, fields, entries, (recording, state))
        elif member.startswith("Counter"):
            _samples(member, fields, (recording, state))
    return recording


def _plain(value: str) -> Any:
    return bytes.fromhex(value[1:]) if value.startswith("x") else int(value)


def _register(
    member: str, fields: dict[str, Any], entries: list[Any], into: tuple[Recording, _State]
) -> None:
    recording, state = into
    if member == "StringRegister":
        state.texts[fields["id"]] = fields["text"].decode()
        recording.registered += 1
    elif member == "CategoryRegister":
        state.categories[fields["category"]] = fields["name"].decode()
    elif member == "ScopeRegister":
        state.scopes[fields["id"]] = fields["path"].decode()
    elif member == "SchemaRegister":
        state.schemas[fields["id"]] = fields["flags"], entries, fields["size"]
        recording.schemas += 1
    elif member == "StreamOpen":
        path = state.scopes.get(fields["scope"])
        state.streams[fields["id"]] = fields["name"].decode(), path
        recording.time_domains.add(fields["time"])
    elif member == "CounterRegister":
        name = fields["name"].decode()
        state.counters[fields["id"]] = name, "i8" if fields["schema"] == 17 else "f8"
        unit = fields.get("unit")
        recording.counter_units[name] = unit.decode() if unit else None
        recording.counter_paths[name] = state.scopes.get(fields["scope"])


def _samples(member: str, fields: dict[str, Any], into: tuple[Recording, _State]) -> None:
    recording, state = into
    name, storage = state.counters[fields["counter"]]
    series = recording.samples.setdefault(name, [])
    if member == "CounterNoValueWrite":
        series.append((fields["time"], None))
    else:
        times = np.frombuffer(fields["times"], "i8").tolist()
        series += zip(times, np.frombuffer(fields["data"], storage).tolist(), strict=True)


def _rows(fields: dict[str, Any], state: _State) -> list[Row]:
    flags, entries, size = state.schemas[fields["schema"]]
    stream, path = state.streams[fields["stream"]]
    return [
        _row(fields["data"][at : at + size], entries, state, (_KINDS[flags], stream, path))
        for at in range(0, len(fields["data"]), size)
    ]


def _row(data: bytes, entries: list[Any], state: _State, where: Any) -> Row:
    times, name, category, args = [], "", "", {}
    for entry in entries:
        flags, kind, offset, count = map(int, entry[:4])
        key = bytes.fromhex(entry[4]).decode()
        value = _value(data, kind, offset, count)
        value = state.texts[value] if kind == _HANDLE else value
        if flags & _MESSAGE:
            name = value
        elif flags & _TIMESTAMP:
            times.append(value)
        elif kind == _CATEGORY:
            category = state.categories[value]
        elif kind != _RANGE_ID:
            args[key] = value
    begin, end = times if len(times) == 2 else (times[0], None)
    return Row(*where, begin, end, name, category, args)


def _value(data: bytes, kind: int, offset: int, count: int) -> Any:
    if kind == _UTF32:
        return str(np.frombuffer(data, f"U{count}", 1, offset)[0])
    values = np.frombuffer(data, _STORAGE[kind], max(count, 1), offset).tolist()
    return values if count else values[0]
