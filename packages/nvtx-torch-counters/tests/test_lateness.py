# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from nvtx_torch_counters._lateness import Lateness


def noted(*latenesses: int) -> Lateness:
    lateness = Lateness()
    for late in latenesses:
        lateness.note(late)
    return lateness


def test_ticks_are_counted_below_their_bound() -> None:
    lateness = noted(0, 1, 15, 16, 17, 18, 31, 32, 35, 1_000_000)
    assert lateness.counts() == {
        1: 1, 2: 1, 16: 1, 18: 2, 20: 1, 32: 1, 36: 2, 1_048_576: 1
    }  # fmt: skip
    assert lateness.latest_ns == 1_000_000


@given(st.integers(0, (1 << 47) - 1))
def test_a_bound_is_at_most_an_eighth_above_what_lies_below_it(late: int) -> None:
    (bound,) = noted(late).counts()
    assert late < bound <= late + max(1, late / 8)


def test_a_machine_that_slept_for_days_is_counted_in_the_last_bucket() -> None:
    lateness = noted(1 << 60)
    assert lateness.counts() == {1 << 47: 1}
    assert lateness.latest_ns == 1 << 60
