# SPDX-License-Identifier: Apache-2.0
"""`nvtx-perfetto run`: the command's own behaviour is left alone, and its trace is there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import traces
from running import environment, tool

MARK = "import nvtx; nvtx.mark('here')"


def test_the_trace_holds_the_events_and_the_parts_are_gone(tmp_path: Path) -> None:
    output = tmp_path / "out.pftrace"
    done = tool("run", "-o", output, "--", sys.executable, "-c", MARK)
    assert done.returncode == 0
    assert f"{output}: 1 events and 0 counter samples from 1 trace(s)" in done.stderr
    assert traces.read(output).event("here").categories == ["NVTX"]
    assert list(tmp_path.iterdir()) == [output]


def test_a_process_is_named_by_its_program_and_first_argument(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(MARK)
    done = tool("run", "-o", tmp_path / "out", "--", sys.executable, program, "--data", "/a/b")
    assert done.returncode == 0
    tracks = traces.read(tmp_path / "out").tracks.values()
    names = [track.process.process_name for track in tracks if track.HasField("process")]
    assert names == [f"{Path(sys.executable).name} train.py"]


def test_output_and_status_are_the_commands_own(tmp_path: Path) -> None:
    code = "import sys; print('said'); sys.exit(5)"
    done = tool("run", "-o", tmp_path / "out", "--", sys.executable, "-c", code)
    assert (done.returncode, done.stdout) == (5, "said\n")
    assert "no NVTX events were recorded" in done.stderr


def test_a_fatal_signal_is_passed_on(tmp_path: Path) -> None:
    code = MARK + "; import os; os.kill(os.getpid(), 15)"
    done = tool("run", "-o", tmp_path / "out", "--", sys.executable, "-c", code)
    assert done.returncode == -signal.SIGTERM
    assert traces.read(tmp_path / "out").event("here")


def test_placeholders_of_the_output_are_filled_in(tmp_path: Path) -> None:
    code = MARK + "; import os; print(os.getpid())"
    pattern = tmp_path / "%q{WHICH}-%p-100%%.pftrace"
    done = tool("run", "-o", pattern, "--", sys.executable, "-c", code, WHICH="rank")
    pid = done.stdout.strip()
    assert [path.name for path in tmp_path.iterdir()] == [f"rank-{pid}-100%.pftrace"]


@pytest.mark.parametrize("flags", [(), ("-f",)])
def test_an_existing_output_is_replaced_on_request_only(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    output = tmp_path / "out"
    output.write_bytes(b"old")
    done = tool("run", *flags, "-o", output, "--", sys.executable, "-c", MARK)
    assert done.returncode == (0 if flags else 1)
    assert (output.read_bytes() == b"old") == (not flags)
    assert ("exists already" in done.stderr) == (not flags)


def test_another_tool_is_replaced_on_request_only(tmp_path: Path) -> None:
    command = ["--", sys.executable, "-c", MARK]
    refused = tool("run", "-o", tmp_path / "a", *command, NVTX_INJECTION64_PATH="/other.so")
    assert (refused.returncode, "another tool" in refused.stderr) == (1, True)
    forced = tool("run", "--force", "-o", tmp_path / "a", *command, NVTX_INJECTION64_PATH="/b.so")
    assert forced.returncode == 0
    assert (tmp_path / "a").exists()


def test_a_command_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = tool("run", "-o", tmp_path / "out", "--", "/no/such/program")
    assert done.returncode == 1
    assert "/no/such/program cannot be started" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_lives_on_is_named_and_its_part_left(tmp_path: Path) -> None:
    # The grandchild lives as long as this test holds the other end of its pipe.
    read, write = os.pipe()
    code = f"""
import os, nvtx
os.set_inheritable({read}, False)
nvtx.mark("child")
said, say = os.pipe()
if os.fork() == 0:
    nvtx.mark("grandchild")
    os.write(say, b"x")
    for fd in (0, 1, 2): os.close(fd)
    os.read({read}, 1)
    os._exit(0)
os.read(said, 1)
"""
    command = [sys.executable, "-m", "nvtx_perfetto", "run", "-o", str(tmp_path / "out"), "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", code],
        env=environment(),
        pass_fds=[read],
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(write)
    os.close(read)
    assert done.returncode == 0
    assert "still records; the rest is left for a later join" in done.stderr
    assert traces.read(tmp_path / "out").event("child")
    assert len(list(tmp_path.glob("*.part"))) == 1
