# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nvtx_torch_counters._ring import UNAVAILABLE, VALUE, Ring


@given(
    st.integers(1, 8), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30), st.integers(0, 40)
)
def test_the_newest_rows_stay_and_the_others_are_counted(
    capacity: int, values: list[int], since: int
) -> None:
    ring = Ring("qd", capacity)
    for at, number in enumerate(values):
        ring.append(at, 1, (number, at / 2))
    rows = ring.rows(since)
    first = min(max(since, len(values) - capacity, 0), len(values))
    assert rows.first == first
    assert rows.columns[0].tolist() == values[first:]
    assert rows.columns[1].tolist() == [at / 2 for at in range(first, len(values))]
    assert rows.time.tolist() == list(range(first, len(values)))
    assert ring.overwritten == max(0, len(values) - capacity)


def test_a_large_ring_takes_memory_only_for_its_rows() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    rings = [Ring("q" * 6, 1 << 20) for _ in range(4)]  # 67 MB each when full
    for ring in rings:
        ring.append(1, 0, range(6))
    assert resident() - before < 4 << 20
    assert rings[0].rows().columns[5].tolist() == [5]


@pytest.mark.parametrize("bad", [(1, "x"), (2**63, 1.0), (1.5, 1.0), (1,)])
def test_a_row_that_does_not_fit_changes_nothing(bad: tuple[object, ...]) -> None:
    ring = Ring("qd", 2)
    for at in range(3):
        ring.append(at, 0, (at, float(at)))
    with pytest.raises(struct.error):
        ring.append(9, 0, bad)  # type: ignore[arg-type]
    rows = ring.rows()
    assert rows.time.tolist() == [1, 2]
    assert rows.columns[0].tolist() == [1, 2]
    assert rows.columns[1].tolist() == [1.0, 2.0]


def test_a_state_takes_the_place_of_values() -> None:
    ring = Ring("q", 4)
    ring.append(1, 0, (7,))
    ring.append_state(2, 0, UNAVAILABLE, 3)
    ring.append(3, 0, (8,))
    rows = ring.rows()
    assert rows.state.tolist() == [VALUE, UNAVAILABLE, VALUE]
    assert rows.reason[1] == 3
