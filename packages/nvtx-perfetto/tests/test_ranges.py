# SPDX-License-Identifier: Apache-2.0
"""Half ranges, flows, scopes and the rows of processes and threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import nvtx
from sessions import REALTIME, session, stream
from traces import read

TIME = {
    role: nvtx.numpy_dtype(np.int64, entry_kind=getattr(nvtx.EntryKind, role))
    for role in ("RANGE_BEGIN", "RANGE_END", "MARK")
}
MESSAGE = nvtx.numpy_dtype("U8", entry_kind=nvtx.EntryKind.MESSAGE)


def test_halves_are_paired_and_what_has_no_other_half_is_counted(tmp_path: Path) -> None:
    with stream(tmp_path / "t") as main:
        main.write_push(1, message="outer")
        main.write_push(2, message="inner")
        main.write_pop(3)
        main.write_pop(9)
        main.write_pop(10)
        main.write_push(20, message="open")
        main.write_start(4, 7, message="async")
        main.write_end(15, 7)
        main.write_end(16, 8)
        main.write_start(5, 9, message="never")
    trace = read(tmp_path / "t")
    expected = {"outer": (1, 9), "inner": (2, 3), "open": (20, None), "async": (4, 15)}
    assert trace.ranges() == {**expected, "never": (5, None)}
    counted = {key: trace.summary[key] for key in ("unmatched_pops", "unmatched_ends")}
    assert counted == {"unmatched_pops": 1, "unmatched_ends": 1}
    assert trace.summary["ranges_left_open"] == 2


def test_a_start_and_its_end_may_come_from_different_streams_in_any_order(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        options = {"domain": "dom", "time_domain_id": REALTIME}
        with begun.create_stream("a", **options) as a, begun.create_stream("b", **options) as b:
            b.write_end(20, 5)
            a.write_start(10, 5, message="async")
    trace = read(tmp_path / "t")
    assert trace.ranges() == {"async": (10, 20)}
    assert trace.path(trace.event("async").track).startswith("job/a")


def test_what_a_pop_brings_replaces_the_push_s_arguments(tmp_path: Path) -> None:
    push = np.dtype([("t", TIME["RANGE_BEGIN"]), ("m", MESSAGE), ("x", np.int32)])
    pop = np.dtype([("t", TIME["RANGE_END"]), ("m", MESSAGE), ("y", np.float64)])
    with session(tmp_path / "t") as begun:
        domain = begun.get_domain("dom")
        opens = domain.get_schema(push, kind=nvtx.EventKind.RANGE_PUSH)
        closes = domain.get_schema(pop, kind=nvtx.EventKind.RANGE_POP)
        with begun.create_stream("main", domain=domain, time_domain_id=REALTIME) as main:
            main.write_event(opens, (1, "push", 5))
            main.write_event(closes, (2, "pop", 0.5))
    trace = read(tmp_path / "t")
    assert trace.ranges() == {"push": (1, 2)}
    assert trace.event("push").args == {"message": "pop", "payload": {"y": 0.5}}


def test_flows_join_the_begins_of_two_slices(tmp_path: Path) -> None:
    layout = np.dtype(
        [
            ("t0", TIME["RANGE_BEGIN"]),
            ("t1", TIME["RANGE_END"]),
            ("m", MESSAGE),
            ("nvtx.flow_out", np.uint64),
            ("nvtx.flow_in", np.uint64),
        ]
    )
    with session(tmp_path / "t") as begun:
        domain = begun.get_domain("dom")
        schema = domain.get_schema(layout, kind=nvtx.EventKind.RANGE_PUSHPOP)
        with begun.create_stream("main", domain=domain, time_domain_id=REALTIME) as main:
            main.write_event(schema, (1, 2, "from", 7, 0))
            main.write_event(schema, (3, 4, "to", 0, 7))
            main.write_event(schema, (5, 6, "early", 0, 8))
            main.write_event(schema, (7, 8, "late", 8, 0))
    trace = read(tmp_path / "t")
    flows = {name: trace.event(name).flows for name in ("from", "to", "early", "late")}
    assert flows["from"] == flows["to"]
    assert len(flows["from"]) == 1
    assert flows["early"] == flows["late"] == []
    assert trace.summary["flows_reversed"] == 1
    assert trace.event("early").args["payload"]["nvtx.flow_in"] == 8
    assert "payload" not in trace.event("from").args


def test_scopes_are_paths_of_tracks_and_name_processes_and_threads(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        domain = begun.get_domain("dom")
        paths = {
            "plain": "node/gpu[0]",
            "again": "node/gpu[0]",
            "process": "process[42] train",
            "thread": "process[42]/thread[43] main loop",
            "escaped": "a\\/b\\[0\\]",
        }
        for name, path in paths.items():
            scope = domain.get_scope(path)
            options = {"domain": domain, "scope": scope, "time_domain_id": REALTIME}
            with begun.create_stream(name, **options) as opened:
                opened.write_mark(1, message=name)
    trace = read(tmp_path / "t")
    found = {name: trace.path(trace.event(name).track) for name in paths}
    assert found["plain"] == "job/node/gpu[0]/plain"
    assert found["again"] == "job/node/gpu[0]/again"
    assert found["process"] == "process 42 train/process"
    assert found["thread"] == "thread 42 43 main loop/thread"
    assert found["escaped"] == "job/a/b[0]/escaped"
    parents = {trace.tracks[trace.event(n).track].parent_uuid for n in ("plain", "again")}
    assert len(parents) == 1


def test_arguments_stay_apart_where_the_engine_makes_keys_equal(tmp_path: Path) -> None:
    inner = np.dtype([("b", np.int32)])
    layout = np.dtype([("t", TIME["MARK"]), ("m", MESSAGE), ("a", inner), ("a_b", np.int32)])
    with session(tmp_path / "t") as begun:
        domain = begun.get_domain("dom")
        schema = domain.get_schema(layout, kind=nvtx.EventKind.MARK)
        with begun.create_stream("main", domain=domain, time_domain_id=REALTIME) as main:
            main.write_event(schema, (1, "m", (5,), 6))
    assert read(tmp_path / "t").event("m").args["payload"] == {"a": {"b": 5}, "a_b_2": 6}
