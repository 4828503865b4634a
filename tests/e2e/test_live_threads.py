# SPDX-License-Identifier: Apache-2.0
"""Many threads and libraries that come and go: nothing is dropped, and nothing mixed up."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from support import Trace
from support.live import compile_libraries, compile_native, record

Load = Callable[[Path], Trace]
HERE = Path(__file__).parent
THREADS, RANGES, LEVELS = 64, 100_000, 10


def above(level: int) -> str:
    return f"level {level - 1}" if level else ""


def test_64_threads_record_100_000_nested_ranges_each_without_a_drop(tmp_path: Path) -> None:
    program = compile_native(HERE / "live_threads.c", tmp_path / "program", "-std=gnu11")
    counter = compile_native(HERE / "live_count.c", tmp_path / "counter", "-std=gnu11")
    done = record(tmp_path, program, str(THREADS), str(RANGES))
    assert done.returncode == 0, done.stderr
    # The summary that `run` prints names whatever was not recorded as it came.
    assert f"{THREADS * RANGES} events" in done.stderr
    assert "dropped" not in done.stderr
    log = [line.split() for line in done.stdout.splitlines()]
    command = [counter, tmp_path / "trace.pftrace"]
    counted = subprocess.run(command, check=True, capture_output=True, text=True)
    *found, still_open = counted.stdout.splitlines()
    expected = [
        f"{tid},{level},level {level},{above(level)},{int(ranges) // LEVELS}"
        for tid, ranges in log
        for level in range(LEVELS)
    ]
    assert len(log) == THREADS
    assert sorted(found) == sorted(expected)
    assert still_open == "0"


def test_libraries_and_the_first_user_are_closed_while_recording(
    tmp_path: Path, load: Load
) -> None:
    program = compile_native(HERE / "live_unload.c", tmp_path / "program", "-std=gnu11")
    libraries = compile_libraries(HERE / "live_library.c", tmp_path)
    done = record(tmp_path, program, *libraries)
    assert done.returncode == 0, done.stderr
    trace = load(tmp_path / "trace.pftrace")
    names = Counter(row.name for row in trace.slices if row.name != "nvtx-perfetto summary")
    assert names == {"libone.so": 80, "libtwo.so": 80}
    assert len({row.track.process for row in trace.slices if row.track.process}) == 1
    assert trace.problems == {}
