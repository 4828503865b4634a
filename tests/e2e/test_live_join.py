# SPDX-License-Identifier: Apache-2.0
"""Joined traces of one process are one process to the engine, and arrows stay their own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import nvtx
import nvtx.writer
from nvtx_perfetto.join import join
from support import Trace
from support.live import record_script

Load = Callable[[Path], Trace]
REALTIME = nvtx.TimestampType.CPU_CLOCK_GETTIME_REALTIME


def identities(trace: Trace) -> dict[int, tuple[int, int]]:
    """How many rows the engine has for a process, and for its main thread, by process id."""
    processes = Counter(row["pid"] for row in trace.processor.query("select pid from process"))
    threads = Counter(row["tid"] for row in trace.processor.query("select tid from thread"))
    return {pid: (n, threads[pid]) for pid, n in processes.items() if isinstance(pid, int) and pid}


EXEC = """
import os, sys, nvtx
if sys.argv[1] == "before":
    {opened}
    nvtx.mark("before")
    os.execv(sys.executable, [sys.executable, __file__, "after"])
with nvtx.annotate("after"): nvtx.mark("inside")
"""


def test_a_process_is_one_before_and_after_an_exec(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, EXEC.format(opened="pass"), "before"))
    slices = [row for row in trace.slices if row.name != "nvtx-perfetto summary"]
    rows = [(r.name, r.depth, r.track.process, r.track.thread) for r in slices]
    (pid, name) = trace.named("after").track.process or (0, None)
    thread = trace.named("after").track.thread
    assert rows == [
        ("before", 0, (pid, name), thread),
        ("after", 0, (pid, name), thread),
        ("inside", 1, (pid, name), thread),
    ]
    assert identities(trace) == {pid: (1, 1)}


def test_a_range_that_an_exec_left_open_takes_nothing_in(tmp_path: Path, load: Load) -> None:
    trace = load(record_script(tmp_path, EXEC.format(opened="nvtx.push_range('open')"), "before"))
    (pid, _) = trace.named("after").track.process or (0, None)
    assert (trace.named("after").depth, trace.named("inside").depth) == (0, 1)
    assert identities(trace)[pid][0] == 1


def test_what_is_replayed_lies_in_the_recorded_process(
    tmp_path: Path, load: Load, backend: nvtx.writer.Backend
) -> None:
    code = """
import json, os, time, nvtx
nvtx.mark("live")
json.dump([os.getpid(), time.time_ns()], open("log.json", "w"))
"""
    live = record_script(tmp_path, code)
    pid, now = json.loads((tmp_path / "log.json").read_text())
    replayed = tmp_path / "replayed.pftrace"
    with nvtx.writer.Session("replay", backend=backend, config=f"output={replayed}") as session:
        domain = session.get_domain("old")
        scope = domain.get_scope(f"process[{pid}]/thread[{pid}]")
        options = {"domain": domain, "scope": scope, "time_domain_id": REALTIME}
        with session.create_stream("log", **options) as stream:
            stream.write_pushpop(now, now + 5, message="replayed")
    join([live, replayed], tmp_path / "all.pftrace")
    trace = load(tmp_path / "all.pftrace")
    mark, row = trace.named("live"), trace.named("replayed")
    assert (row.track.process, row.track.thread) == (mark.track.process, mark.track.thread)
    assert (row.track.path[-1], row.ts, row.dur) == ("log", now, 5)
    assert identities(trace) == {pid: (1, 1)}


def write_arrow(path: Path, backend: nvtx.writer.Backend, name: str) -> Path:
    role = nvtx.numpy_dtype
    layout = np.dtype(
        [
            ("t0", role(np.int64, entry_kind=nvtx.EntryKind.RANGE_BEGIN)),
            ("t1", role(np.int64, entry_kind=nvtx.EntryKind.RANGE_END)),
            ("m", role(np.dtype("U8"), entry_kind=nvtx.EntryKind.MESSAGE)),
            ("nvtx.flow_out", np.uint64),
            ("nvtx.flow_in", np.uint64),
        ]
    )
    with nvtx.writer.Session(name, backend=backend, config=f"output={path}") as session:
        domain = session.get_domain("dom")
        schema = domain.get_schema(layout, kind=nvtx.EventKind.RANGE_PUSHPOP)
        with session.create_stream(name, domain=domain, time_domain_id=REALTIME) as stream:
            stream.write_event(schema, (1, 2, f"{name} from", 7, 0))
            stream.write_event(schema, (3, 4, f"{name} to", 0, 7))
    return path


def test_arrows_of_joined_traces_do_not_meet(
    tmp_path: Path, load: Load, backend: nvtx.writer.Backend
) -> None:
    inputs = [write_arrow(tmp_path / f"{name}.pftrace", backend, name) for name in ("a", "b")]
    join(inputs, tmp_path / "once.pftrace")
    more = write_arrow(tmp_path / "c.pftrace", backend, "c")
    join([tmp_path / "once.pftrace", more], tmp_path / "all.pftrace")
    flows = [flow.row() for flow in load(tmp_path / "all.pftrace").flows]
    assert sorted(flows) == [(f"{name} from", 1, f"{name} to", 3) for name in "abc"]
