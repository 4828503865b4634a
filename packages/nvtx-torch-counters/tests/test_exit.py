# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import signal
from pathlib import Path

import pytest

from scripts import printed, run

PARTS = """
    import numpy as np, os, signal, sys, threading
    from nvtx_torch_counters import CounterSampler, FunctionProbe, ProcessMemory
"""


def rows(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_program_that_raises_at_once_exits_with_its_error_and_its_samples(tmp_path: Path) -> None:
    done = run(
        PARTS
        + """
    CounterSampler([ProcessMemory()], interval=3600, output="memory.csv").start()
    raise ValueError("training failed")
    """,
        tmp_path,
    )
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: training failed\n")
    header, *samples = rows(tmp_path / "memory.csv")
    assert "process memory.rss [bytes]" in header
    assert len(samples) == 2


def test_an_interrupt_from_the_keyboard_ends_it_with_its_samples(tmp_path: Path) -> None:
    # A shell starts what runs in its background with the signal ignored.
    done = run(
        PARTS
        + """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with CounterSampler([ProcessMemory()], interval=0.005, output="memory.csv"):
        signal.raise_signal(signal.SIGINT)
    """,
        tmp_path,
    )
    assert done.returncode == -signal.SIGINT
    assert len(rows(tmp_path / "memory.csv")) >= 3


def test_a_probe_that_hangs_does_not_keep_the_process(tmp_path: Path) -> None:
    script = (
        PARTS
        + """
    reads, hung = [], threading.Event()
    def read():
        reads.append(1)
        if len(reads) > 1:
            hung.set()
            threading.Event().wait()
        return (1,)
    probe = FunctionProbe("p", {"n": np.int64}, read)
    CounterSampler([probe, ProcessMemory()], interval=0.001, output="out.csv").start()
    hung.wait()
    print("done")
    """
    )
    assert printed(script, tmp_path) == "done\n"
    assert len(rows(tmp_path / "out.csv")) >= 2


def test_no_file_is_left_half_written(tmp_path: Path) -> None:
    script = (
        PARTS
        + """
    sampler = CounterSampler([ProcessMemory()], output="out.csv")
    for _ in range(3):
        sampler.step()
        sampler.stop()
    """
    )
    printed(script, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


FORKING = (
    PARTS
    + """
    with CounterSampler([ProcessMemory()], interval=0.001, output="out.csv") as sampler:
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                assert not sampler.running and threading.active_count() == 1
                assert len(sampler.samples("process memory")) == 0
                with sampler:
                    kept = np.ones(32 << 20, np.uint8)
                rss = sampler.samples("process memory").values["rss"]
                assert rss[-1] - rss[0] > 30 << 20, rss
                os._exit(0)
            children.append(child)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert sampler.running
    rss = sampler.samples("process memory").values["rss"]
    assert len(rss) > 2 and rss.max() - rss.min() < 16 << 20
    print(*children)
"""
)


def test_forked_children_sample_themselves_and_leave_the_parents_file_alone(tmp_path: Path) -> None:
    children = printed(FORKING, tmp_path).split()
    assert {path.name for path in tmp_path.iterdir()} == {
        "out.csv",
        *(f"out.{child}.csv" for child in children),
    }
    assert all(len(rows(path)) >= 3 for path in tmp_path.iterdir())


def test_a_child_that_leaves_the_block_it_was_forked_in_writes_nothing(tmp_path: Path) -> None:
    script = (
        PARTS
        + """
    with CounterSampler([ProcessMemory()], interval=0.001, output="out.csv"):
        child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    )
    assert printed(script, tmp_path) == "0\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_worker_processes_start_and_end_beside_a_running_sampler(
    tmp_path: Path, method: str
) -> None:
    (tmp_path / "worker.py").write_text(
        "from nvtx_torch_counters import CounterSampler, ProcessMemory\n"
        "def work(n):\n"
        "    with CounterSampler([ProcessMemory()], interval=0.001) as sampler:\n"
        "        return len(sampler.samples('process memory')) >= 1\n"
    )
    script = f"""
    import multiprocessing, sys
    sys.path.insert(0, "")
    from nvtx_torch_counters import CounterSampler, ProcessMemory
    from worker import work
    with CounterSampler([ProcessMemory()], interval=0.001):
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            print(all(pool.map(work, range(4))))
    """
    assert printed(script, tmp_path) == "True\n"
