# SPDX-License-Identifier: Apache-2.0
"""More rows than memory may hold: sorted through temporary files, and still exact."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import nvtx
import pytest
from nvtx.writer import Session, WriterError
from support import PacketTrace, Trace

OpenSession = Callable[..., Session]
Load = Callable[[Path], Trace]
ROWS = 60_000
SUMMARY = "nvtx-perfetto summary"


def write_shuffled(
    session: Session, batches: int, once_begun: Callable[[], object] = lambda: None
) -> None:
    """Write pairs of an outer range and one inside it, shuffled over several batches."""

    def role(kind: nvtx.EntryKind) -> object:
        return nvtx.numpy_dtype(np.int64, entry_kind=kind)

    begin, end = role(nvtx.EntryKind.RANGE_BEGIN), role(nvtx.EntryKind.RANGE_END)
    noise = ("noise", np.int64, (4,))  # sorted rows are packed, which random numbers resist
    dtype = np.dtype([("begin", begin), ("end", end), ("number", np.int64), noise])
    random = np.random.default_rng(4)
    number = random.permutation(ROWS)
    rows = np.empty(ROWS, dtype)
    rows["begin"] = number // 2 * 100 + number % 2 * 10
    rows["end"] = rows["begin"] + np.where(number % 2, 20, 90)
    rows["number"] = number
    rows["noise"] = random.integers(0, 2**62, (ROWS, 4))
    with session:
        once_begun()
        domain = session.get_domain("spilled")
        schema = domain.get_schema(dtype, kind=nvtx.EventKind.RANGE_PUSHPOP)
        with session.create_stream("s", domain=domain) as stream:
            for part in np.array_split(rows, batches):
                stream.write_event_batch(schema, part, ordering=nvtx.BatchOrdering.UNSORTED)


def test_rows_beyond_the_memory_bound_are_spilled_counted_and_exact(
    tmp_path: Path, load: Load, open_session: OpenSession
) -> None:
    path = tmp_path / "spilled.pftrace"
    write_shuffled(open_session(path, memory="1M"), batches=7)
    trace = load(path)
    rows = [
        (row.ts, row.dur, row.depth, row.args["payload.number"])
        for row in trace.slices
        if row.category == "spilled"
    ]
    expected = [
        (number // 2 * 100 + number % 2 * 10, 20 if number % 2 else 90, number % 2, number)
        for number in range(ROWS)
    ]
    assert sorted(rows) == expected
    assert trace.named(SUMMARY).args["summary.spilled_runs"] in range(2, ROWS)
    assert trace.problems == {}
    assert PacketTrace.read(path).faults == []
    assert [found.name for found in tmp_path.iterdir()] == ["spilled.pftrace"]


def test_the_same_rows_in_memory_give_the_same_rows_without_a_run(
    tmp_path: Path, load: Load, open_session: OpenSession
) -> None:
    path, small = tmp_path / "held.pftrace", tmp_path / "spilled.pftrace"
    write_shuffled(open_session(path), batches=7)
    write_shuffled(open_session(small, memory="1M"), batches=3)
    held = load(path)
    rows = [row.row() for row in held.slices if row.category == "spilled"]
    assert held.named(SUMMARY).args.get("summary.spilled_runs", 0) == 0
    spilled = [row.row() for row in load(small).slices if row.category == "spilled"]
    assert len(rows) == ROWS
    assert rows == spilled


def test_a_folder_that_is_removed_costs_the_trace_and_leaves_nothing_elsewhere(
    tmp_path: Path, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, temporary = tmp_path / "gone", tmp_path / "temporary"
    gone.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    session = open_session(gone / "t.pftrace", memory="1M")
    with pytest.raises(WriterError, match="SessionEnd"):
        write_shuffled(session, batches=7, once_begun=lambda: shutil.rmtree(gone))
    assert list(tmp_path.rglob("*")) == [temporary]
