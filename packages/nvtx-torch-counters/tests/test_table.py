# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import nvtx_schema as nvs
import pandas as pd
import pyarrow.parquet as pq
import pytest
from fake_clock import MS, FakeClock
from nvtx_torch_counters import CounterSampler, FunctionProbe, SinkError, Unavailable

BIG = 2**53 + 1  # what a double cannot hold
T0 = 1_000 * MS
REAL = 999_000 * MS


@pytest.fixture
def sampler(clock: FakeClock) -> CounterSampler:
    """Three steps, 5 ms apart: `memory` has a gap in the middle, `load` an unknown field."""
    left: list[Any] = [(BIG, 7), Unavailable("asleep"), (2, 8), (3, 9)]

    def memory() -> Any:
        answer = left.pop(0)
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    loads = [(0.5,), (None,), (1.5,), (2.5,)]
    size = nvs.value(np.int64, unit="bytes", min=0)
    made = CounterSampler(
        [
            FunctionProbe("memory", {"used": size, "parts": np.int64}, memory),
            FunctionProbe("load", {"cores": nvs.value(np.float64)}, lambda: loads.pop(0)),
        ],
        clock=clock,
    )
    for _ in range(3):
        made.step()
        clock.now += 5 * MS
    return made


def test_a_frame_has_exact_integers_and_unknowns_as_na(sampler: CounterSampler) -> None:
    frame = sampler.to_frame()
    sampler.stop()
    assert list(frame.columns) == [
        "time", "monotonic", "error", "gap", "memory.used", "memory.parts", "load.cores",
    ]  # fmt: skip
    assert frame["monotonic"].tolist() == [
        T0,
        T0,
        T0 + 5 * MS,
        T0 + 5 * MS,
        T0 + 10 * MS,
        T0 + 10 * MS,
    ]
    assert (frame["time"] - frame["monotonic"] == REAL).all()
    used = frame["memory.used"]
    assert used.dtype == "Int64"
    assert used.dropna().tolist() == [BIG, 2]
    assert frame["load.cores"].dropna().tolist() == [0.5, 1.5]
    assert frame["gap"].dropna().tolist() == ["memory: asleep"]
    assert frame.attrs["units"] == {"memory.used": "bytes", "memory.parts": "", "load.cores": ""}


def test_a_parquet_file_reads_back_with_units_and_nulls(
    sampler: CounterSampler, tmp_path: Path
) -> None:
    sampler.to_parquet(tmp_path / "out.parquet")
    sampler.stop()
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.field("memory.used").metadata[b"unit"] == b"bytes"
    assert b"CLOCK_REALTIME" in table.schema.metadata[b"time"]
    assert table["memory.used"].to_pylist() == [BIG, None, None, None, 2, None]
    assert table["load.cores"].to_pylist() == [None, 0.5, None, None, None, 1.5]
    assert table["time"].to_pylist()[0] == T0 + REAL
    assert table["gap"].to_pylist()[2] == "memory: asleep"


def test_a_csv_file_has_units_in_its_header_and_empty_unknowns(
    sampler: CounterSampler, tmp_path: Path
) -> None:
    sampler.to_csv(tmp_path / "out.csv")
    sampler.stop()
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == [
        "time [ns]", "monotonic [ns]", "error [ns]", "gap",
        "memory.used [bytes]", "memory.parts", "load.cores",
    ]  # fmt: skip
    assert rows[1] == [str(T0 + REAL), str(T0), "0", "", str(BIG), "7", ""]
    assert rows[3][3:] == ["memory: asleep", "", "", ""]
    assert len(rows) == 7
    frame = pd.read_csv(tmp_path / "out.csv", dtype={"memory.used [bytes]": "Int64"})
    assert frame["memory.used [bytes]"].dropna().tolist() == [BIG, 2]


def test_a_sampler_without_samples_gives_empty_tables(tmp_path: Path) -> None:
    sampler = CounterSampler([FunctionProbe("p", {"n": np.int64}, lambda: (1,))])
    assert sampler.to_frame().shape == (0, 5)
    assert sampler.to_arrow().num_rows == 0
    sampler.to_csv(tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    sampler: CounterSampler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out.parquet").write_text("old")
    monkeypatch.setattr(pq, "write_table", lambda table, path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sampler.to_parquet(tmp_path / "out.parquet")
    sampler.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]
    assert (tmp_path / "out.parquet").read_text() == "old"


@pytest.mark.parametrize("name", ["out.json", "out", "nowhere/out.csv"])
def test_an_output_that_cannot_be_is_refused_before_sampling(tmp_path: Path, name: str) -> None:
    with pytest.raises(SinkError, match="output"):
        CounterSampler([], output=tmp_path / name)


def test_a_missing_library_is_named_with_its_remedy(
    sampler: CounterSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(SinkError, match=r"pip install nvtx-torch-counters\[pandas\]"):
        sampler.to_frame()
    sampler.stop()
