# SPDX-License-Identifier: Apache-2.0
"""Callers that break the rules: valid events before and after are read back whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nvtx_perfetto
import pytest
from nvtx_perfetto.join import join
from support import Slice, Trace
from support.live import clean_environment, compile_native, record

Load = Callable[[Path], Trace]
HERE = Path(__file__).parent


def rows_of(trace: Trace) -> list[Slice]:
    return [row for row in trace.slices if row.name != "nvtx-perfetto summary"]


def test_broken_calls_are_counted_and_disturb_nothing(tmp_path: Path, load: Load) -> None:
    program = compile_native(HERE / "live_hostile.c", tmp_path / "program", "-std=gnu11")
    done = record(tmp_path, program)
    assert done.returncode == 0, done.stderr
    trace = load(tmp_path / "trace.pftrace")
    rows = rows_of(trace)
    assert [row.name for row in rows if row.name in ("before", "after")] == ["before", "after"]
    names = [row.name for row in rows]
    assert names.count(None) + names.count("") == 7
    long = [row.name for row in rows if row.name and len(row.name) > 1000]
    assert long == ["x" * 65536]
    assert "bad \ufffd\ufffd bytes" in names
    assert all(row.dur >= 0 for row in rows)
    summary = trace.named("nvtx-perfetto summary").args
    assert summary["summary.unmatched_pops"] == 3
    assert summary["summary.unmatched_ends"] == 2
    assert summary["summary.cut_messages"] == 1
    assert summary["summary.bad_ids"] == 5
    assert trace.problems == {}


WORK = """
import os, sys, nvtx
nvtx.mark("before")
exec(sys.argv[1])
for i in range(1000): nvtx.mark("after")
"""


def run_with(output: Path, action: str) -> subprocess.CompletedProcess[str]:
    environment = clean_environment(
        NVTX_INJECTION64_PATH=str(nvtx_perfetto.library_path()),
        NVTX_PERFETTO_OUTPUT=str(output),
    )
    return subprocess.run(
        [sys.executable, "-c", WORK, action],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_output_folder_that_goes_away_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    done = run_with(folder / "trace.pftrace", f"import shutil; shutil.rmtree({str(folder)!r})")
    assert done.returncode == 0
    assert "nvtx-perfetto: moving" in done.stderr
    assert not folder.exists()


def test_an_output_that_cannot_be_made_is_said_once(tmp_path: Path) -> None:
    done = run_with(tmp_path / "none" / "trace.pftrace", "pass")
    assert done.returncode == 0
    assert done.stderr.count("nothing is recorded") == 1


def test_an_existing_output_is_kept_and_the_recording_left_as_a_part(tmp_path: Path) -> None:
    output = tmp_path / "trace.pftrace"
    output.write_bytes(b"precious")
    done = run_with(output, "pass")
    assert done.returncode == 0
    assert "exists already" in done.stderr
    assert output.read_bytes() == b"precious"
    assert len(list(tmp_path.glob("*.part"))) == 1


def test_a_full_disk_keeps_the_program_running(tmp_path: Path, load: Load) -> None:
    limited = shutil.which("prlimit")
    if limited is None:
        pytest.skip("needs prlimit (util-linux) to stand in for a full disk")
    output = tmp_path / "trace.pftrace"
    environment = clean_environment(
        NVTX_INJECTION64_PATH=str(nvtx_perfetto.library_path()),
        NVTX_PERFETTO_OUTPUT=str(output),
    )
    # Room for the shared memory and its first chunks, not for more.
    code = """
import signal, nvtx
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
domain = nvtx.get_domain("full")
for i in range(300_000):
    domain.push_range(message="r"); domain.pop_range()
print("done")
"""
    done = subprocess.run(
        [limited, "--fsize=2500000", sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    joined = join([tmp_path], tmp_path / "joined.pftrace", overwrite=True)
    trace = load(tmp_path / "joined.pftrace")
    rows = rows_of(trace)
    assert len(rows) > 0
    assert all(row.dur >= 0 for row in rows if row.name == "r")
    recorded = joined.counts["events"]
    assert recorded + joined.counts.get("dropped_ranges", 0) == 300_000
