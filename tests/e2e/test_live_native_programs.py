# SPDX-License-Identifier: Apache-2.0
"""C and C++ programs, with several NVTX copies in one process, are recorded row by row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support import Slice, Trace
from support.live import compile_libraries, compile_native, record

Load = Callable[[Path], Trace]
HERE = Path(__file__).parent


def rows_of(trace: Trace) -> list[Slice]:
    return [row for row in trace.slices if row.name != "nvtx-perfetto summary"]


def short(row: Slice) -> tuple[object, ...]:
    return (row.track.path[-1], row.depth, row.parent, row.name, row.category, row.args)


def test_a_c_program_with_all_core_and_payload_calls(tmp_path: Path, load: Load) -> None:
    program = compile_native(HERE / "live_program.c", tmp_path / "program", "-std=gnu11")
    done = record(tmp_path, program)
    assert done.returncode == 0, done.stderr
    trace = load(tmp_path / "trace.pftrace")
    own = "wïde domain (the main thread)"
    with_payload = "payloads (the main thread)"
    color = {"nvtx_color": "#FF112233"}
    expected = [
        ("", 0, None, "ascii", "NVTX", {}),
        ("", 1, "ascii", "wide ☺", "NVTX", {}),
        ("", 2, "wide ☺", "mark", "NVTX", {}),
        ("", 2, "wide ☺", "wide mark", "NVTX", {}),
        ("start/end ranges", 0, None, "started", "NVTX", {}),
        (own, 0, None, "registered", "wïde domain,first", {**color, "payload": 4_000_000_000}),
        (own, 1, "registered", "registered", "wïde domain,first", {**color, "payload": 0.5}),
        (own, 1, "registered", "registered", "wïde domain,first", {**color, "payload": -5}),
        (with_payload, 0, None, "by row", "payloads", {"payload": 1.5}),
        (with_payload, 0, None, "by row", "payloads", {"payload.count": 7, "payload.state": "on"}),
        (
            *(with_payload, 0, None, "by row", "payloads"),
            {"payload.0.count": 7, "payload.0.state": "on", "payload.1": 1.5},
        ),
        (with_payload, 0, None, "by handle", "payloads", {}),
    ]
    found = [short(row) for row in rows_of(trace)]
    # The engine keeps what a push said beside what its pop says.
    kept = {"payload.count": 7, "payload.state": "on", "payload": 1.5}
    found = [(*row[:5], {"payload": 1.5} if row[5] == kept else row[5]) for row in found]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert trace.slices[0].track.thread is not None
    assert trace.slices[0].track.thread[1] == "the main thread"
    summary = trace.named("nvtx-perfetto summary").args
    assert summary == {
        "summary.events": 12,
        "summary.bad_ids": 1,
        "summary.unsupported_calls": 1,
    }


def test_a_cpp_program_with_its_own_domain_and_moved_ranges(tmp_path: Path, load: Load) -> None:
    program = compile_native(HERE / "live_program.cpp", tmp_path / "program", "-std=c++17")
    done = record(tmp_path, program)
    assert done.returncode == 0, done.stderr
    trace = load(tmp_path / "trace.pftrace")
    rows = rows_of(trace)
    steps = [row for row in rows if row.name == "step"]
    assert {row.args["payload"] for row in steps} == {1, 2}
    assert len(steps) == 2
    assert {row.category for row in steps} == {"library,hot"}
    assert {row.args["nvtx_color"] for row in steps} == {"#FF010203"}
    assert len({row.track.thread for row in steps}) == 2
    inside = [row for row in rows if row.name == "inside"]
    assert [(row.parent, row.depth) for row in inside] == [("step", 1)] * 2
    names = {row.name: row.track.path[-1] for row in rows}
    assert names["main"] == ""
    assert names["unique"] == "start/end ranges"
    assert all(row.dur >= 0 for row in rows)


def test_every_nvtx_copy_is_served_also_after_a_late_dlopen(tmp_path: Path, load: Load) -> None:
    program = compile_native(HERE / "live_program.c", tmp_path / "program", "-std=gnu11")
    libraries = compile_libraries(HERE / "live_library.c", tmp_path)
    done = record(tmp_path, program, *libraries)
    assert done.returncode == 0, done.stderr
    trace = load(tmp_path / "trace.pftrace")
    assert [row.name for row in rows_of(trace) if row.name in ("libone.so", "libtwo.so")] == [
        "libone.so",
        "libtwo.so",
    ]


def test_own_ids_are_kept_and_batches_without_a_place_are_counted(
    tmp_path: Path, load: Load
) -> None:
    program = compile_native(HERE / "live_registrations.c", tmp_path / "program", "-std=gnu11")
    done = record(tmp_path, program)
    assert done.returncode == 0, done.stderr
    base = int(done.stdout)
    trace = load(tmp_path / "trace.pftrace")
    samples = [(s.track.path[-3:], s.ts - base, s.value) for s in trace.counters]
    own = ("outer", "inner", "own")
    assert samples == [(own, 0, 5), (own, 10, 6), (("timed.value",), 20, 9)]
    assert [row.ts - base for row in rows_of(trace)] == [0, 10]
    assert trace.named("nvtx-perfetto summary").args == {
        "summary.events": 2,
        "summary.counter_samples": 3,
        "summary.unsupported_calls": 4,
    }
