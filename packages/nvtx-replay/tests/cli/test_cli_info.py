# SPDX-License-Identifier: Apache-2.0
"""The command tells what a trace or an input holds."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from nvtx_replay.cli import main
from nvtx_replay.cli._protobuf import WireError, fields, varint
from nvtx_replay.cli._trace import is_trace, read_trace


def encoded(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field, value):
    return encoded(field << 3) + encoded(value)


def bytes_field(field, *parts):
    body = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    return encoded(field << 3 | 2) + encoded(len(body)) + body


def packet(*parts, sequence=1):
    return bytes_field(1, *parts, number(10, sequence))


def track(uuid, *parts):
    return packet(bytes_field(60, number(1, uuid), *parts))


def event(kind, time, *parts, sequence=1):
    return packet(number(8, time), bytes_field(11, number(9, kind), *parts), sequence=sequence)


HEAD = packet(bytes_field(6, number(2, 1)))
DESCRIBED = (
    track(1, bytes_field(3, number(1, 42), bytes_field(6, "python")))
    + track(2, bytes_field(4, number(1, 42), number(2, 43), bytes_field(5, "main")))
    + track(3, bytes_field(2, "nested"), number(5, 2))
    + track(4, bytes_field(2, "load"), bytes_field(8, b""))
)
# A sequence whose timestamps are differences on a clock of its own, tied to REALTIME.
INCREMENTAL = packet(
    number(13, 1),
    bytes_field(59, number(58, 64), bytes_field(11, number(11, 3))),
    sequence=2,
) + packet(
    bytes_field(
        6,
        bytes_field(1, number(1, 64), number(2, 0), number(3, 1)),
        bytes_field(1, number(1, 1), number(2, 5000)),
    ),
    sequence=2,
)
EVENTS = INCREMENTAL + b"".join(
    event(kind, time, sequence=2) for kind, time in ((1, 10), (2, 20), (3, 0), (4, 5))
)


def summary(uuid, **counts):
    """What the backend writes at the end of a session or part: its track comes last."""
    entries = [
        bytes_field(11, bytes_field(10, kind), number(4, count)) for kind, count in counts.items()
    ]
    note = bytes_field(4, bytes_field(10, "summary"), *entries)
    name = bytes_field(12, bytes_field(2, number(1, 5), bytes_field(2, "nvtx-perfetto summary")))
    body = bytes_field(11, number(9, 3), number(10, 5), note)
    written = packet(number(13, 1), number(8, 9), body, name, sequence=uuid)
    return written + track(uuid, bytes_field(2, "nvtx-perfetto summary"))


@pytest.fixture
def trace(tmp_path):
    """Write a trace of the parts given."""

    def write(*parts):
        path = tmp_path / "t.pftrace"
        path.write_bytes(b"".join(parts))
        return path

    return write


def test_processes_tracks_events_and_the_time_range_are_told(trace):
    path = trace(HEAD, DESCRIBED, EVENTS)
    result = CliRunner().invoke(main, ["info", str(path), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "file": str(path),
        "format": "perfetto",
        "packets": 11,
        "processes": {"42": "python"},
        "threads": {"42/43": "main"},
        "tracks": 1,
        "counters": ["load"],
        "events": {"counter_samples": 1, "instants": 1, "slice_ends": 1, "slices": 1},
        "first_ns": 5010,
        "span_ns": 25,
        "summary": {},
        "cut": None,
    }


def test_summaries_of_several_parts_are_added_up(trace):
    path = trace(HEAD, summary(7, crossings=2, bad_ids=1), summary(8, crossings=3))
    result = CliRunner().invoke(main, ["info", str(path)])
    assert "summary    bad_ids: 1, crossings: 5" in result.stdout


def test_a_last_packet_cut_short_is_told_and_exits_with_3(trace):
    path = trace(HEAD, DESCRIBED, EVENTS[:-3])
    result = CliRunner().invoke(main, ["info", str(path), "--json"])
    assert result.exit_code == 3
    assert "a packet ends early, at byte" in json.loads(result.stdout)["cut"]


def test_an_input_is_described_too(tmp_path):
    path = tmp_path / "in.json"
    path.write_text('\n[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1},{"ph":"?"}]')
    result = CliRunner().invoke(main, ["info", str(path)])
    assert result.exit_code == 3
    assert result.stdout.splitlines()[1:3] == ["format        chrome", "clock         relative"]
    assert "skipped       unknown_phase_?: 1" in result.stdout


def test_what_is_neither_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    result = CliRunner().invoke(main, ["info", str(path)])
    assert (result.exit_code, "which no importer knows" in result.stderr) == (1, True)


@pytest.mark.parametrize("text", ['\n{"traceEvents": []}', "\n" + "[" + " " * 200, "\n\n\n"])
def test_text_that_begins_with_a_line_feed_is_no_trace(text):
    assert not is_trace(text.encode())
    assert is_trace(HEAD)


def test_fields_of_every_wire_type_are_read():
    data = number(1, 300) + b"\x11" + b"\x01" * 8 + b"\x1d" + b"\x02" * 4 + bytes_field(4, "é")
    assert [(n, v if isinstance(v, int) else bytes(v).decode()) for n, v in fields(data)] == [
        (1, 300),
        (2, 0x0101010101010101),
        (3, 0x02020202),
        (4, "é"),
    ]


@pytest.mark.parametrize("data", [b"\x0b", b"\x0a\x05a", b"\x08", b"\xff" * 11, b"\x11\x01"])
def test_bytes_that_are_no_message_are_refused(data):
    with pytest.raises(WireError):
        list(fields(data))


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_walk(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "t.pftrace"
    path.write_bytes(HEAD + data)
    assert read_trace(path).packets >= 1
    assert is_trace(data) in (True, False)
    if data:
        try:
            varint(data, 0)
        except WireError:
            assert all(byte & 0x80 for byte in data[:10])
