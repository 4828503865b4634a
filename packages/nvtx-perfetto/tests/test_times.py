# SPDX-License-Identifier: Apache-2.0
"""Timestamps at and beyond what a trace can hold."""

from __future__ import annotations

from pathlib import Path

import nvtx.writer
import nvtx_perfetto
import pytest
from sessions import stream
from traces import read

MOST = 2**63 - 2


def test_times_from_zero_to_the_greatest_are_exact(tmp_path: Path) -> None:
    with stream(tmp_path / "t") as main:
        main.write_pushpop(0, MOST, message="all")
        main.write_pushpop(MOST - 1, MOST, message="last")
        main.write_mark(MOST, message="mark")
    ranges = read(tmp_path / "t").ranges()
    assert ranges == {"all": (0, MOST), "last": (MOST - 1, MOST), "mark": (MOST, MOST)}


def write_marks(path: Path, config: str, *marks: tuple[int, str]) -> None:
    with stream(path, config) as main:
        for time, name in marks:
            main.write_mark(time, message=name)


@pytest.mark.parametrize("time", [-1, -(2**63), 2**63 - 1])
def test_a_time_that_does_not_fit_is_dropped_counted_and_told_at_the_end(
    tmp_path: Path, time: int
) -> None:
    with pytest.raises(nvtx.writer.WriterError):
        write_marks(tmp_path / "t", "", (5, "kept"), (time, "dropped"))
    assert "time_offset" in nvtx_perfetto.last_error()
    trace = read(tmp_path / "t")
    assert list(trace.ranges()) == ["kept"]
    assert trace.summary["dropped_times"] == 1


def test_an_offset_makes_the_earliest_time_fit_and_the_latest_not(tmp_path: Path) -> None:
    config = f"time_offset={2**63 - 1}"
    marks = [(-(2**63) + 1, "earliest"), (-1, "latest"), (0, "dropped")]
    with pytest.raises(nvtx.writer.WriterError):
        write_marks(tmp_path / "t", config, *marks)
    ranges = read(tmp_path / "t").ranges()
    assert ranges == {"earliest": (0, 0), "latest": (MOST, MOST)}


def test_a_range_that_ends_before_it_begins_is_refused(tmp_path: Path) -> None:
    with stream(tmp_path / "t") as main:
        with pytest.raises(nvtx.writer.WriterError):
            main.write_pushpop(10, 9, message="backward")
        assert "before it begins" in nvtx_perfetto.last_error()
        main.write_pushpop(10, 10, message="empty")
    assert read(tmp_path / "t").ranges() == {"empty": (10, 10)}
