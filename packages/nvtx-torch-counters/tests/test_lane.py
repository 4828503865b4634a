# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import pairwise

import pytest
from fake_clock import MS, FakeClock
from hypothesis import given
from hypothesis import strategies as st
from nvtx_torch_counters._lane import Lane
from nvtx_torch_counters._lanes import Lanes


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
    assert lane.lateness.latest_ns == 3 * MS
    assert lane.lateness.counts() == {1: 2, 12 << 18: 1}


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


@pytest.mark.parametrize(
    ("origin", "due"),
    [
        (977 * MS, [1_007 * MS, 1_017 * MS]),
        (1_000 * MS, [1_010 * MS, 1_020 * MS]),
        (1_005 * MS, [1_005 * MS, 1_015 * MS]),
    ],
)
def test_due_times_count_from_the_origin_whenever_the_lane_begins(
    clock: FakeClock, origin: int, due: list[int]
) -> None:
    lane = Lane("t", 10 * MS, [], clock)
    lane.origin_ns = origin
    clock.waits = 1
    lane.run()
    assert clock.deadlines == due


def test_lanes_of_multiple_intervals_are_never_due_at_once(clock: FakeClock) -> None:
    clock.waits = 0  # the threads end before their first tick
    lanes = Lanes(clock, 10 * MS)
    for interval in (10, 100, 1_000, 2):
        lanes.put(interval * MS, lambda: None)
    lanes.start(lambda: None)
    lanes.put(20 * MS, lambda: None)
    lanes.end(60)
    aside = {lane.interval_ns // MS: lane.origin_ns - clock.now for lane in lanes.all()}
    assert aside == {10: 0, 100: 5 * MS, 1_000: 5 * MS, 2: 1 * MS, 20: 5 * MS, 250: 5 * MS}


def test_a_task_added_later_takes_part_from_the_next_tick(clock: FakeClock) -> None:
    seen: list[str] = []
    lane = Lane("t", 10 * MS, [], clock)
    lane.add(lambda: seen.append("first"))
    lane.add(lambda: lane.add(lambda: seen.append("late")) if lane.ticks == 1 else None)
    clock.waits = 2
    lane.run()
    assert seen == ["first", "first", "late"]
