# SPDX-License-Identifier: Apache-2.0
"""`start`, `flush` and `stats`, and the check of all."""

from __future__ import annotations

from pathlib import Path

import nvtx_perfetto
import traces
from running import python, tool

STARTED = """
import nvtx_perfetto
nvtx_perfetto.start({path!r})
import nvtx
"""


def test_start_records_this_process_into_the_file(tmp_path: Path) -> None:
    output = tmp_path / "out.pftrace"
    code = STARTED.format(path=str(output)) + "nvtx.mark('started')"
    done = python(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert traces.read(output).event("started")
    assert list(tmp_path.iterdir()) == [output]


def test_start_works_after_importing_nvtx_and_before_its_first_call(tmp_path: Path) -> None:
    output = tmp_path / "out.pftrace"
    done = python("import nvtx\n" + STARTED.format(path=str(output)) + "nvtx.mark('m')")
    assert (done.returncode, done.stderr) == (0, "")
    assert traces.read(output).event("m")


def test_start_raises_when_nvtx_has_found_no_tool_before(tmp_path: Path) -> None:
    code = "import nvtx; nvtx.mark('early')\n" + STARTED.format(path=str(tmp_path / "out"))
    done = python(code)
    assert done.returncode == 1
    assert "RecordingError: the nvtx package was used before and found no tool" in done.stderr


def test_flush_and_stats_tell_what_is_in_the_file(tmp_path: Path) -> None:
    code = (
        STARTED.format(path=str(tmp_path / "out.pftrace"))
        + """
assert nvtx_perfetto.stats() == nvtx_perfetto.Stats(False)
counter = nvtx.get_domain("d").get_counter("c", int)
for i in range(10):
    nvtx.mark("m")
    counter.sample(i)
nvtx_perfetto.flush()
stats = nvtx_perfetto.stats()
assert (stats.recording, stats.threads, stats.events, stats.samples) == (True, 1, 10, 10), stats
assert stats.dropped == 0 and stats.buffer_bytes > 0 and stats.part_bytes > 0
"""
    )
    done = python(code)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_recording_flush_does_nothing() -> None:
    nvtx_perfetto.flush()
    assert nvtx_perfetto.stats() == nvtx_perfetto.Stats(recording=False)


def test_check_finds_no_tool_this_library_and_a_wrong_path() -> None:
    none = tool("check")
    assert none.returncode == 0, none.stdout
    assert "no tool is attached" in none.stdout
    assert "test range: 1 of 1 recorded" in none.stdout
    ours = tool("check", NVTX_INJECTION64_PATH=str(nvtx_perfetto.library_path()))
    assert (ours.returncode, "attached: this library" in ours.stdout) == (0, True)
    wrong = tool("check", NVTX_INJECTION64_PATH="/no/such/library.so")
    assert wrong.returncode == 1
    assert "FAULT NVTX_INJECTION64_PATH names /no/such/library.so" in wrong.stdout


def test_the_public_names() -> None:
    assert nvtx_perfetto.__all__ == [
        "JoinError",
        "LibraryNotFoundError",
        "PerfettoError",
        "RecordingError",
        "Stats",
        "__version__",
        "flush",
        "last_error",
        "library_path",
        "library_version",
        "start",
        "stats",
    ]
