# SPDX-License-Identifier: Apache-2.0
"""`nvtx-perfetto join`: parts, folders and finished traces become one trace."""

from __future__ import annotations

from pathlib import Path

import nvtx
import nvtx_perfetto
import pytest
import traces
from nvtx_perfetto.join import join
from running import leave_part, tool
from sessions import MONOTONIC, REALTIME, stream

MARK = "import nvtx; nvtx.mark('{}')"


def write_session(path: Path, clock: nvtx.TimestampType) -> Path:
    """Write a trace of a writer session with one mark."""
    with stream(path, time_domain_id=clock) as opened:
        opened.write_mark(1_700_000_000_000_000_000, message="written")
    return path


def test_parts_traces_and_writer_sessions_join(tmp_path: Path) -> None:
    parts = [leave_part(tmp_path / "live", MARK.format(i)) for i in range(2)]
    written = write_session(tmp_path / "w.pftrace", REALTIME)
    joined = join([*parts, written], tmp_path / "all.pftrace")
    trace = traces.read(tmp_path / "all.pftrace")
    assert {e.name for e in trace.events} >= {"0", "1", "written"}
    assert trace.event("written").time == 1_700_000_000_000_000_000
    assert joined.counts["events"] == 3
    assert all(part.exists() for part in parts)


def test_a_folder_and_a_dead_processes_part_are_joined(tmp_path: Path) -> None:
    leave_part(tmp_path / "live", MARK.format("ended"))
    leave_part(tmp_path / "live", MARK.format("died") + "; import os; os._exit(0)")
    assert len(list(tmp_path.glob("*.live"))) == 1
    done = tool("join", tmp_path, "-o", tmp_path / "all.pftrace")
    assert done.returncode == 0, done.stderr
    names = {event.name for event in traces.read(tmp_path / "all.pftrace").events}
    assert {"ended", "died"} <= names
    assert list(tmp_path.glob("*.live")) == []


@pytest.mark.parametrize("size", [0, 7, 40])
def test_a_cut_trace_is_joined_as_far_as_it_is_whole(tmp_path: Path, size: int) -> None:
    part = leave_part(tmp_path / "live", MARK.format("kept"))
    whole = part.read_bytes()
    part.write_bytes(whole + b"\x0a\x7f" + b"x" * size)
    done = tool("join", part, "-o", tmp_path / "all.pftrace")
    assert done.returncode == 3
    assert "behind the last whole packet" in done.stderr
    assert traces.read(tmp_path / "all.pftrace").event("kept")


def test_traces_on_different_clocks_are_refused(tmp_path: Path) -> None:
    part = leave_part(tmp_path / "live", MARK.format("live"))
    written = write_session(tmp_path / "w.pftrace", MONOTONIC)
    with pytest.raises(nvtx_perfetto.JoinError, match="another clock"):
        join([part, written], tmp_path / "all.pftrace")
    assert not (tmp_path / "all.pftrace").exists()


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello, this is text")
    (tmp_path / "empty").mkdir()
    with pytest.raises(nvtx_perfetto.JoinError, match="no Perfetto trace"):
        join([tmp_path / "text"], tmp_path / "all.pftrace")
    with pytest.raises(nvtx_perfetto.JoinError, match="nothing to join"):
        join([tmp_path / "empty"], tmp_path / "all.pftrace")
