# SPDX-License-Identifier: Apache-2.0
"""Sessions whose process forks, exits or dies."""

from __future__ import annotations

import signal
from pathlib import Path

from sessions import run
from traces import read

START = """
import os, signal, sys
import nvtx.writer, nvtx_perfetto
from sessions import REALTIME
backend = nvtx.writer.load_backend(nvtx_perfetto.library_path())
def begin(path):
    session = nvtx.writer.Session("job", backend=backend, config="output=" + path)
    session.begin()
    return session
def open_stream(session, name):
    stream = session.create_stream(name, domain="dom", time_domain_id=REALTIME)
    stream.open()
    return stream
session = begin("t")
main = open_stream(session, "main")
main.write_mark(1, message="before")
"""


def test_a_forked_child_s_calls_fail_and_the_parent_s_trace_is_whole(tmp_path: Path) -> None:
    script = """
child = os.fork()
if child == 0:
    own = begin("child")
    stream = open_stream(own, "own")
    failures = 0
    for call in (lambda: main.write_mark(2, message="lost"), main.close, session.end):
        try:
            call()
        except nvtx.writer.WriterError:
            failures += 1
    stream.write_mark(3, message="own")
    stream.close()
    own.end()
    os._exit(failures)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
main.write_mark(4, message="after")
main.close()
session.end()
"""
    done = run(START + script, cwd=tmp_path)
    assert done.stdout.split() == ["3"], done.stderr
    assert list(read(tmp_path / "t").ranges()) == ["before", "after"]
    assert list(read(tmp_path / "child").ranges()) == ["own"]


def test_a_child_that_exits_normally_leaves_the_parent_s_file_alone(tmp_path: Path) -> None:
    script = """
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
main.close()
session.end()
"""
    assert run(START + script, cwd=tmp_path).returncode == 0
    assert read(tmp_path / "t").summary == {"events": 1}


def test_a_normal_exit_ends_an_open_session(tmp_path: Path) -> None:
    done = run(START + "main.write_push(2, message='open')\n", cwd=tmp_path)
    assert done.returncode == 0
    trace = read(tmp_path / "t")
    assert trace.ranges() == {"before": (1, 1), "open": (2, None)}
    assert trace.summary["ranges_left_open"] == 1


def test_an_exit_after_errors_and_losses_says_so_once(tmp_path: Path) -> None:
    script = """
for path in ("t", "/nowhere/" + "x" * 300):
    try:
        begin(path)
    except nvtx.writer.WriterError:
        pass
main.write_mark(-1, message="dropped")
begin("second")
"""
    done = run(START + script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("nvtx-perfetto") == 1
    assert read(tmp_path / "t").summary["dropped_times"] == 1
    assert read(tmp_path / "second").summary == {}


def test_a_killed_process_leaves_its_closed_streams_readable(tmp_path: Path) -> None:
    script = """
main.write_pushpop(10, 20, message="range")
main.close()
other = open_stream(session, "other")
other.write_mark(5, message="lost")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run(START + script, cwd=tmp_path).returncode == -signal.SIGKILL
    trace = read(tmp_path / "t")
    assert trace.ranges() == {"before": (1, 1), "range": (10, 20)}
    assert trace.path(trace.event("range").track) == "job/main"
