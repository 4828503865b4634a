# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import pairwise

from fake_clock import MS, FakeClock
from hypothesis import given
from hypothesis import strategies as st
from nvtx_torch_counters._lane import Lane


def test_ticks_fall_on_multiples_of_the_interval_whatever_a_tick_takes(clock: FakeClock) -> None:
    ticks: list[int] = []
    lane = Lane("t", 10 * MS, [lambda: ticks.append(clock.now), clock.passing(3 * MS)], clock)
    clock.waits = 4
    lane.run()
    assert ticks == [1_010 * MS, 1_020 * MS, 1_030 * MS, 1_040 * MS]
    assert (lane.ticks, lane.missed) == (4, 0)


def test_a_slow_tick_is_not_caught_up_with_in_a_burst(clock: FakeClock) -> None:
    ticks: list[int] = []
    lane = Lane("t", 10 * MS, [lambda: ticks.append(clock.now)], clock)
    lane.add(clock.passing(0, 35 * MS, 0))
    clock.waits = 4
    lane.run()
    assert ticks == [1_010 * MS, 1_020 * MS, 1_060 * MS, 1_070 * MS]
    assert (lane.ticks, lane.missed) == (4, 3)


def test_a_late_tick_is_noted_and_the_schedule_stays(clock: FakeClock) -> None:
    ticks: list[int] = []
    lane = Lane("t", 10 * MS, [lambda: ticks.append(clock.now)], clock)
    clock.late, clock.waits = [0, 3 * MS, 0], 3
    lane.run()
    assert ticks == [1_010 * MS, 1_023 * MS, 1_030 * MS]
    assert lane.latest_ns == 3 * MS
    assert sum(lane.lateness) == 3
    assert lane.lateness[0] == 2
    assert lane.lateness[(3 * MS).bit_length()] == 1


def test_a_wait_that_ends_early_is_waited_out(clock: FakeClock) -> None:
    ticks: list[int] = []
    lane = Lane("t", 10 * MS, [lambda: ticks.append(clock.now)], clock)
    clock.late, clock.waits = [-2 * MS, 0], 3
    lane.run()
    assert ticks == [1_010 * MS, 1_020 * MS]
    assert clock.deadlines[:2] == [1_010 * MS, 1_010 * MS]


@given(
    st.lists(st.integers(0, 60 * MS), min_size=1, max_size=20),
    st.lists(st.integers(0, 25 * MS), min_size=1, max_size=20),
)
def test_ticks_and_misses_account_for_all_due_times(took: list[int], late: list[int]) -> None:
    clock = FakeClock()
    ticks: list[int] = []
    lane = Lane("t", 10 * MS, [lambda: ticks.append(clock.now), clock.passing(*took)], clock)
    clock.late, clock.waits = late, 20
    lane.run()
    due_times = (clock.deadlines[-1] - 1_010 * MS) // (10 * MS)
    assert lane.ticks + lane.missed == due_times
    assert lane.ticks == len(ticks) == 20
    assert all(b > a for a, b in pairwise(ticks))
    assert all(due % (10 * MS) == 0 for due in clock.deadlines)


def test_a_task_added_later_takes_part_from_the_next_tick(clock: FakeClock) -> None:
    seen: list[str] = []
    lane = Lane("t", 10 * MS, [], clock)
    lane.add(lambda: seen.append("first"))
    lane.add(lambda: lane.add(lambda: seen.append("late")) if lane.ticks == 1 else None)
    clock.waits = 2
    lane.run()
    assert seen == ["first", "first", "late"]
