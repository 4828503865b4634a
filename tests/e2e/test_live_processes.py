# SPDX-License-Identifier: Apache-2.0
"""Forks, spawns, execs, exits and deaths: every process's rows are there, and only its own."""

from __future__ import annotations

import json
import mmap
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import nvtx_perfetto
import pytest
from nvtx_perfetto.join import join
from support import Slice, Trace
from support.live import clean_environment, compile_native, record, record_script

Load = Callable[[Path], Trace]
HERE = Path(__file__).parent


def rows_of(trace: Trace) -> list[Slice]:
    return [row for row in trace.slices if row.name != "nvtx-perfetto summary"]


def by_process(trace: Trace) -> dict[int, list[str | None]]:
    found: dict[int, list[str | None]] = {}
    for row in rows_of(trace):
        assert row.track.process is not None
        found.setdefault(row.track.process[0], []).append(row.name)
    return found


def total(trace: Trace, kind: str) -> int:
    key = f"summary.{kind}"
    return sum(
        int(row.args.get(key, 0) or 0)
        for row in trace.slices
        if row.name == "nvtx-perfetto summary"
    )


FORKS = """
import json, os, nvtx
domain = nvtx.get_domain("forks")
log = {os.getpid(): ["outer", "after"]}
domain.push_range(message="outer")
for i in range(3):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        domain.push_range(message=f"child {i}")
        domain.pop_range()
        domain.pop_range()  # of the parent's range
        domain.pop_range()  # of nothing
        os._exit(0)
    os.waitpid(pid, 0)
    log[pid] = [f"child {i}"]
domain.push_range(message="after"); domain.pop_range()
domain.pop_range()
json.dump(log, open("log.json", "w"))
"""


def test_forked_children_record_apart_and_leave_the_parents_ranges_alone(
    tmp_path: Path, load: Load
) -> None:
    trace = load(record_script(tmp_path, FORKS))
    log = json.loads((tmp_path / "log.json").read_text())
    assert by_process(trace) == {int(pid): names for pid, names in log.items()}
    outer, after = trace.named("outer"), trace.named("after")
    assert after.parent == "outer"
    assert outer.ts + outer.dur >= after.ts + after.dur
    assert (total(trace, "inherited_pops"), total(trace, "unmatched_pops")) == (3, 3)
    assert trace.problems == {}


def test_a_child_that_only_execs_leaves_nothing(tmp_path: Path, load: Load) -> None:
    code = """
import os, nvtx
nvtx.mark("parent")
if os.fork() == 0:
    os.execvp("true", ["true"])
os.wait()
"""
    trace = load(record_script(tmp_path, code))
    assert [row.name for row in rows_of(trace)] == ["parent"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py", "trace.pftrace"]


def test_exec_keeps_the_pid_and_begins_a_part_of_its_own(tmp_path: Path, load: Load) -> None:
    code = """
import os, sys, nvtx
nvtx.mark(sys.argv[1])
if sys.argv[1] == "before":
    os.execv(sys.executable, [sys.executable, __file__, "after"])
"""
    trace = load(record_script(tmp_path, code, "before"))
    (names,) = by_process(trace).values()
    assert names == ["before", "after"]


def test_spawned_and_forked_workers_are_all_there(tmp_path: Path, load: Load) -> None:
    code = """
import json, multiprocessing, os, nvtx
def work(number):
    with nvtx.annotate(f"work {number}", domain="pool"):
        return os.getpid()
if __name__ == "__main__":
    log = {}
    for number, method in enumerate(["spawn", "fork", "spawn", "fork"]):
        context = multiprocessing.get_context(method)
        with context.Pool(1) as pool:
            log[f"work {number}"] = pool.apply(work, (number,))
    nvtx.mark("end")
    json.dump(log, open("log.json", "w"))
"""
    trace = load(record_script(tmp_path, code))
    log = json.loads((tmp_path / "log.json").read_text())
    found = {row.name: row.track.process[0] for row in rows_of(trace) if row.track.process}
    assert {name: pid for name, pid in found.items() if name != "end"} == log


def test_data_loader_workers_that_live_for_a_third_of_a_second_are_recorded(
    tmp_path: Path, load: Load
) -> None:
    pytest.importorskip("torch")
    code = """
import json, os, time, nvtx, torch
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, index):
        with nvtx.annotate(f"item {index}", domain="loader"):
            time.sleep(0.075)
        return index, os.getpid(), time.monotonic_ns()
loader = torch.utils.data.DataLoader(
    Numbers(), batch_size=2, num_workers=2, multiprocessing_context="fork")
log = []
for batch in loader:
    nvtx.mark("batch")
    log += torch.stack(batch, 1).tolist()
json.dump(log, open("log.json", "w"))
"""
    trace = load(record_script(tmp_path, code))
    log = json.loads((tmp_path / "log.json").read_text())
    rows = rows_of(trace)
    assert Counter(row.name for row in rows) == {"batch": 4, **{f"item {i}": 1 for i in range(8)}}
    found = {row.name: row for row in rows if row.name != "batch"}
    assert {name: row.track.process[0] for name, row in found.items() if row.track.process} == {
        f"item {index}": pid for index, pid, _ in log
    }
    lives = [[ended for _, worker, ended in log if worker == pid] for pid in {p for _, p, _ in log}]
    assert len(lives) == 2
    # Not long enough to see the writer thread's first second.
    assert all(75_000_000 + max(life) - min(life) < 900_000_000 for life in lives)
    assert all(row.dur >= 75_000_000 for row in found.values())


def test_calls_from_atexit_and_other_threads_at_the_end(tmp_path: Path, load: Load) -> None:
    code = """
import atexit, threading, nvtx
atexit.register(nvtx.mark, "at exit")
def thread():
    with nvtx.annotate("in thread"): pass
worker = threading.Thread(target=thread); worker.start(); worker.join()
nvtx.push_range("never popped")
"""
    trace = load(record_script(tmp_path, code))
    assert [row.name for row in rows_of(trace)] == ["in thread", "never popped", "at exit"]
    assert trace.named("never popped").dur == -1
    assert total(trace, "ranges_left_open") == 1


def test_a_child_that_lives_on_does_not_hold_its_dead_parents_events(tmp_path: Path) -> None:
    code = """
import os, nvtx
nvtx.mark("parent")
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, b"c")
    os.read(0, 1)  # until the test ends its input
    os._exit(0)
os.read(read, 1)
os.kill(os.getpid(), 9)
"""
    environment = clean_environment(
        NVTX_INJECTION64_PATH=str(nvtx_perfetto.library_path()),
        NVTX_PERFETTO_OUTPUT=str(tmp_path / "trace.pftrace"),
        NVTX_PERFETTO_CONFIG="parts=only",
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) as program:
        assert program.wait() == -signal.SIGKILL
        joined = join([tmp_path], tmp_path / "joined.pftrace")
    assert joined.counts["events"] == 1
    assert list(tmp_path.glob("*.live")) == []


@pytest.mark.parametrize(
    ("end", "status"),
    [("os._exit(7)", 7), ("os.abort()", -signal.SIGABRT), ("os.kill(os.getpid(), 9)", -9)],
)
def test_nothing_is_lost_however_the_process_ends(
    tmp_path: Path, load: Load, end: str, status: int
) -> None:
    script = tmp_path / "program.py"
    script.write_text(f"import os, nvtx\nfor i in range(100): nvtx.mark(f'm{{i}}')\n{end}\n")
    done = record(tmp_path, sys.executable, script)
    assert done.returncode == status
    trace = load(tmp_path / "trace.pftrace")
    assert [row.name for row in rows_of(trace)] == [f"m{i}" for i in range(100)]


def end_after(victim: Path, folder: Path, end: str, delay: float) -> int:
    """End a victim so many seconds after its first range; how many it had logged."""
    folder.mkdir()
    log = folder / "count"
    log.write_bytes(bytes(8))
    environment = clean_environment(
        NVTX_INJECTION64_PATH=str(nvtx_perfetto.library_path()),
        NVTX_PERFETTO_OUTPUT=str(folder / "victim.pftrace"),
        NVTX_PERFETTO_CONFIG="parts=only",
    )
    own_end = [] if end == "kill" else [end, str(int(delay * 1e9))]
    with (
        subprocess.Popen([victim, log, *own_end], env=environment) as process,
        log.open("r+b") as file,
        mmap.mmap(file.fileno(), 8) as page,
    ):
        while end == "kill" and page[:8] == bytes(8) and process.poll() is None:
            pass
        stop = time.monotonic() + delay
        while end == "kill" and time.monotonic() < stop:
            pass
        if end == "kill":
            process.kill()
        status = process.wait()
        assert status == {"kill": -signal.SIGKILL, "abort": -signal.SIGABRT, "exit": 0}[end]
        return int.from_bytes(page[:8], "little")


@pytest.mark.parametrize("end", ["kill", "abort", "exit"])
def test_nothing_that_was_logged_before_an_end_is_missing(
    tmp_path: Path, load: Load, end: str
) -> None:
    victim = compile_native(HERE / "live_victim.c", tmp_path / "victim", "-std=gnu11")
    random = Random(1)
    for moment in range(50):
        folder = tmp_path / str(moment)
        logged = end_after(victim, folder, end, random.uniform(0, 0.02))
        joined = join([folder], folder / "joined.pftrace")
        events = joined.counts["events"]
        print(end, "at moment", moment, "logged", logged, "recorded", events)
        # At most the pair that was under way is there beyond those logged.
        assert logged <= events <= logged + 1
        assert joined.counts.get("ranges_left_open", 0) <= events - logged
        assert "dropped_ranges" not in joined.counts
    rows = rows_of(load(tmp_path / "0" / "joined.pftrace"))
    assert {(row.name, row.depth, row.dur >= 0) for row in rows[:-1]} == {("victim", 0, True)}


def test_a_joined_trace_of_four_ranks_loads_though_one_was_killed(
    tmp_path: Path, load: Load
) -> None:
    environment = clean_environment(
        NVTX_INJECTION64_PATH=str(nvtx_perfetto.library_path()),
        NVTX_PERFETTO_OUTPUT=str(tmp_path / "ranks.pftrace"),
        NVTX_PERFETTO_CONFIG="parts=only",
    )
    code = "import os, sys, nvtx; nvtx.mark('rank ' + sys.argv[1]); {end}"
    for rank in range(4):
        end = "os.kill(os.getpid(), 9)" if rank == 2 else "pass"
        command = [sys.executable, "-c", code.format(end=end), str(rank)]
        subprocess.run(command, env={**environment, "RANK": str(rank)}, check=False)
    tool = [sys.executable, "-m", "nvtx_perfetto", "join", str(tmp_path)]
    done = subprocess.run(
        [*tool, "-o", str(tmp_path / "all.pftrace")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    trace = load(tmp_path / "all.pftrace")
    assert sorted(str(row.name) for row in rows_of(trace)) == [f"rank {i}" for i in range(4)]
    assert len(by_process(trace)) == 4
    content = (tmp_path / "all.pftrace").read_bytes()
    for rank in range(4):  # as the mark's name, and as the process's label
        assert content.count(f"rank {rank}".encode()) == 2
