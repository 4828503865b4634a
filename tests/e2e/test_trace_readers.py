# SPDX-License-Identifier: Apache-2.0
"""The readers that all other end-to-end tests trust, against hand-made traces."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from support import ImportRefusedError, PacketTrace, Trace, TraceProcessor
from support.builder import TraceBuilder

Load = Callable[[Path], Trace]


def described() -> TraceBuilder:
    """A root track 10, a stream 11 under it, a thread 21 of process 20."""
    builder = TraceBuilder()
    builder.track(10, "session")
    builder.track(11, "stream", parent=10)
    process = builder.track(20).process
    process.pid, process.process_name = 700, "trainer"
    thread = builder.track(21, parent=20).thread
    thread.pid, thread.tid, thread.thread_name = 700, 701, "loader"
    return builder


def test_rows_carry_place_nesting_times_and_category(tmp_path: Path, load: Load) -> None:
    builder = described()
    builder.event("SLICE_BEGIN", 11, 100, "outer").categories.extend(["domain", "forward"])
    builder.event("SLICE_BEGIN", 11, 110, "inner").categories.append("domain")
    builder.event("INSTANT", 21, 115, "tick").categories.append("domain")
    builder.event("SLICE_END", 11, 120)
    builder.event("SLICE_END", 11, 130)
    trace = load(builder.write(tmp_path / "t.pftrace"))
    stream = (None, None, ("session", "stream"))
    assert [row.row() for row in trace.slices] == [
        (*stream, 0, None, "outer", "domain,forward", 100, 30, ()),
        (*stream, 1, "outer", "inner", "domain", 110, 10, ()),
        ((700, "trainer"), (701, "loader"), ("",), 0, None, "tick", "domain", 115, 0, ()),
    ]
    assert trace.problems == {}


def test_arguments_keep_types_large_integers_and_nan(tmp_path: Path, load: Load) -> None:
    builder = described()
    notes = builder.event("INSTANT", 11, 1, "noted").debug_annotations
    notes.add(name="flag", bool_value=True)
    notes.add(name="large", uint_value=2**64 - 1)
    notes.add(name="low", int_value=-(2**63))
    notes.add(name="none", double_value=math.nan)
    notes.add(name="one", double_value=1.0)
    rows = notes.add(name="rows").array_values
    rows.add(string_value="é")
    rows.add().dict_entries.add(name="a.b", int_value=2**53 + 1)
    trace = load(builder.write(tmp_path / "t.pftrace"))
    args = trace.named("noted").args
    assert math.isnan(args.pop("none"))  # type: ignore[arg-type]
    assert {key: (type(value), value) for key, value in args.items()} == {
        "flag": (bool, True),
        "large": (int, 2**64 - 1),
        "low": (int, -(2**63)),
        "one": (float, 1.0),
        "rows[0]": (str, "é"),
        "rows[1].a_b": (int, 2**53 + 1),
    }


def test_keys_that_the_engine_makes_equal_are_found(tmp_path: Path, load: Load) -> None:
    builder = described()
    notes = builder.event("INSTANT", 11, 1, "noted").debug_annotations
    notes.add(name="a.b", int_value=1)
    notes.add(name="a_b", int_value=2)
    path = builder.write(tmp_path / "t.pftrace")
    assert load(path).named("noted").args == {"a_b": 2}
    raw = PacketTrace.read(path)
    assert raw.events[0].args == {"a.b": 1, "a_b": 2}
    assert raw.faults == ["sequence 1 has two arguments that the engine calls 'a_b'"]


def test_counters_flows_and_gaps_read_back(tmp_path: Path, load: Load) -> None:
    builder = described()
    counter = builder.track(30, "memory", parent=10).counter
    counter.unit_name = "bytes"
    for ts, value in ((5, 1.5), (6, math.nan), (7, 2.0**53)):
        builder.event("COUNTER", 30, ts).double_counter_value = value
    builder.event("INSTANT", 11, 10, "from").flow_ids.append(9)
    builder.event("INSTANT", 21, 12, "to").flow_ids.append(9)
    trace = load(builder.write(tmp_path / "t.pftrace"))
    assert trace.series() == {("session", "memory"): [(5, 1.5), (6, None), (7, 2.0**53)]}
    assert {sample.track.unit for sample in trace.counters} == {"bytes"}
    assert [flow.row() for flow in trace.flows] == [("from", 10, "to", 12)]


@pytest.mark.parametrize(
    ("kind", "track", "fault"),
    [
        ("SLICE_END", 11, "an end at 5 on 11 has no begin"),
        ("SLICE_BEGIN", 11, "1 ranges on track 11 are never ended"),
        ("INSTANT", 99, "track 99 holds events but was never described"),
    ],
)
def test_what_the_engine_accepts_in_silence_is_found(
    tmp_path: Path, load: Load, kind: str, track: int, fault: str
) -> None:
    builder = described()
    builder.event(kind, track, 5)
    path = builder.write(tmp_path / "t.pftrace")
    assert load(path).problems == {}
    assert PacketTrace.read(path).faults == [fault]


def test_named_ends_unknown_parents_and_unknown_ids_are_found(tmp_path: Path) -> None:
    builder = described()
    builder.track(40, "orphan", parent=41)
    builder.event("SLICE_BEGIN", 11, 1).name_iid = 6
    builder.event("SLICE_END", 11, 2, "done")
    assert PacketTrace.read(builder.write(tmp_path / "t.pftrace")).faults == [
        "sequence 1 uses event name 6 that was never interned",
        "track 40 (orphan) lies under unknown track 41",
        "an end at 2 carries a name, 'done'",
    ]


def test_cut_and_empty_files_are_found(tmp_path: Path) -> None:
    builder = described()
    whole = builder.write(tmp_path / "whole.pftrace").read_bytes()
    cut = tmp_path / "cut.pftrace"
    cut.write_bytes(whole[:-1])
    empty = tmp_path / "empty.pftrace"
    empty.touch()
    last = len(whole) - len(builder.trace.packet[-1].SerializeToString()) - 2
    assert PacketTrace.read(cut).faults[0] == f"the packet at byte {last} is cut short"
    assert PacketTrace.read(empty).faults == ["the file is empty"]
    assert PacketTrace.read(tmp_path / "whole.pftrace").faults == []


def test_a_sequence_clock_counts_from_its_snapshot(tmp_path: Path, load: Load) -> None:
    builder = described()
    snapshot = builder.packet().clock_snapshot
    snapshot.clocks.add(clock_id=6, timestamp=1_000_000)
    snapshot.clocks.add(clock_id=64, timestamp=0, is_incremental=True)
    for delta, name in ((5, "a"), (10, "b")):
        builder.event("INSTANT", 11, delta, name)
        builder.trace.packet[-1].timestamp_clock_id = 64
    path = builder.write(tmp_path / "t.pftrace")
    expected = [("a", 1_000_005), ("b", 1_000_015)]
    assert [(event.name, event.ts) for event in PacketTrace.read(path).events] == expected
    assert [(row.name, row.ts) for row in load(path).slices] == expected


def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, processor: TraceProcessor) -> None:
    path = tmp_path / "t.pftrace"
    path.write_text("no trace at all\n" * 100)
    with pytest.raises(ImportRefusedError):
        processor.load(path)
    processor.load(described().write(path))
    assert processor.query("select count(*) as n from slice") == [{"n": 0}]
