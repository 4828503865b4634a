# SPDX-License-Identifier: Apache-2.0
"""Events that bring their times along are sorted, paired and placed as live ones are."""

from __future__ import annotations

import platform
import signal
from collections.abc import Callable
from pathlib import Path

from support import Slice, Trace
from support.live import compile_native, record

Load = Callable[[Path], Trace]
HERE = Path(__file__).parent
SUMMARY = "nvtx-perfetto summary"
SECOND = 1_000_000_000
# What live_deferred.c gets wrong on purpose is counted, once each.
COUNTS = {
    "summary.events": 16,
    "summary.crossings": 1,
    "summary.order_breaks": 1,
    "summary.unmatched_pops": 1,
    "summary.ends_before_begin": 1,
    "summary.bad_ids": 1,
    "summary.unsupported_calls": 1,
}


def place(row: Slice) -> tuple[int | None, int | None, tuple[str, ...]]:
    process, thread = row.track.process, row.track.thread
    return (process and process[0], thread and thread[0], row.track.path)


def test_batches_halves_and_single_events_become_sorted_rows(tmp_path: Path, load: Load) -> None:
    program = compile_native(HERE / "live_deferred.c", tmp_path / "program", "-std=gnu11")
    done = record(tmp_path, program)
    assert done.returncode == 0, done.stderr
    base, pid = map(int, done.stdout.split())
    trace = load(tmp_path / "trace.pftrace")
    none = (None, None, ("deferred events", "gpu deferred"))
    device = (pid, None, ("node[1]", "gpu 0", "gpu deferred", "start/end ranges"))
    halves = ("halves", "gpu deferred")
    own, third = ("gpu deferred",), "gpu,third"
    expected = [
        (none, 0, None, "outer", third, 0, 1000, {"payload.value": 3}),
        (none, 1, "outer", "middle", third, 50, 250, {"payload.value": 4}),
        (none, 2, "middle", "a", third, 60, 10, {"payload.value": 7}),
        (none, 2, "middle", "b", third, 80, 10, {"payload.value": 6}),
        (none, 2, "middle", "inner", third, 100, 100, {"payload.value": 1}),
        (none, 1, "outer", "late", third, 400, 100, {"payload.value": 2}),
        (none, 0, None, "across", third, 900, 300, {"payload.value": 5}),
        (device, 0, None, "first", third, 0, 20, {"payload.value": 9}),
        (device, 0, None, "second", third, 10, 20, {"payload.value": 10}),
        ((pid, pid, own), 0, None, "here", third, 5, 1, {"payload.value": 11}),
        ((pid, None, own), 0, None, "here", third, 5, 1, {"payload.value": 11}),
        ((pid, pid, own), 0, None, "own thread", "gpu", 7, 0, {"payload.value": 1}),
        ((4242, 4243, own), 0, None, "other process", "gpu", 8, 0, {"payload.value": 2}),
        ((pid, None, halves), 0, None, "pushed", "gpu", 10, 30, {"payload.value": 1}),
        (
            (pid, None, (*halves, "start/end ranges")),
            *(0, None, "started", "gpu", 20, 40, {"payload.value": 2}),
        ),
    ]
    found = [
        (place(r), r.depth, r.parent, r.name, r.category, r.ts - base, r.dur, r.args)
        for r in trace.slices
        if r.name not in (SUMMARY, "live")
    ]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert trace.problems == {}
    assert trace.named(SUMMARY).args == COUNTS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program", "trace.pftrace"]


def test_events_lie_where_their_clocks_say(tmp_path: Path, load: Load) -> None:
    program = compile_native(HERE / "live_clocks.c", tmp_path / "program", "-std=gnu11")
    done = record(tmp_path, program)
    assert done.returncode == 0, done.stderr
    base = int(done.stdout)
    trace = load(tmp_path / "trace.pftrace")
    at = {row.name: row.ts - base for row in trace.slices if row.name != SUMMARY}
    exact = {
        "tied": 500_000,  # 500 ticks of 1 us
        "chained": 1_000_001,  # one tick of 1 ns behind tick 1000 of the other
        "factor": 1_000,  # 400 ticks behind the anchor, 2.5 ns each
        None: 25,  # on the clock of its scope
    }
    assert {name: at[name] for name in exact} == exact
    now = {"tool", "unnamed", "realtime", "monotonic", "raw", "boottime", "read", "read with data"}
    now |= {"seconds", "own epoch"}
    if platform.machine() == "x86_64":
        now.add("processor")
    assert at.keys() == exact.keys() | now
    # Those clocks are read by the program itself, shortly after the moment that `base` is.
    assert {name for name in now if abs(at[name]) > 10 * SECOND} == set()
    samples = [(s.track.path, s.ts - base, s.value) for s in trace.counters]
    assert samples == [(("device", "power"), 30, 5.0), (("device", "power"), 40, 6.0)]
    assert trace.named(SUMMARY).args == {
        "summary.events": len(at),
        "summary.counter_samples": 2,
        "summary.bad_ids": 2,
        "summary.bad_sync_points": 1,
        "summary.dropped_untied": 1,
    }


def test_deferred_events_of_a_killed_process_are_there(tmp_path: Path, load: Load) -> None:
    program = compile_native(
        HERE / "live_deferred.c", tmp_path / "program", "-std=gnu11", "-DKILLED_AT_THE_END"
    )
    done = record(tmp_path, program)
    assert done.returncode == -signal.SIGKILL
    trace = load(tmp_path / "trace.pftrace")
    assert trace.named("middle").parent == "outer"
    assert trace.named("started").dur == 40
    assert trace.named(SUMMARY).args == COUNTS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program", "trace.pftrace"]
