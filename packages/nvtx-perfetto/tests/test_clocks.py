# SPDX-License-Identifier: Apache-2.0
"""Several clocks in one session: refusals, sync points, factors, registered domains."""

from __future__ import annotations

from pathlib import Path

import pytest
from nvtxw import BOOTTIME, MONOTONIC, REALTIME, Refused, Session
from traces import read


def test_a_clock_that_nothing_ties_is_refused_when_its_stream_opens(tmp_path: Path) -> None:
    session = Session(tmp_path / "t")
    session.stream("real", REALTIME)
    with pytest.raises(Refused, match="nothing ties MONOTONIC"):
        session.stream("mono", MONOTONIC)
    session.end()


def test_the_host_s_snapshot_converts_a_counter_s_own_clock(tmp_path: Path) -> None:
    session = Session(tmp_path / "t", "clock_snapshot=host")
    stream, counter = session.stream("real", REALTIME), session.counter("c", MONOTONIC)
    session.sample(stream, counter, 10**12, 5)
    session.end()
    trace = read(tmp_path / "t")
    (snapshot,) = trace.snapshots
    assert trace.series("c") == [(10**12 - snapshot[3] + snapshot[1], 5)]


def test_unrelated_clocks_that_are_allowed_each_start_at_zero(tmp_path: Path) -> None:
    session = Session(tmp_path / "t", "unrelated_clocks=allow")
    for name, clock, times in (("real", REALTIME, (10**18, 10**18 + 5)), ("mono", 14, (70, 90))):
        stream, counter = session.stream(name, clock), session.counter(name)
        for time in times:
            session.sample(stream, counter, time, 1)
    session.end()
    trace = read(tmp_path / "t")
    assert trace.series("real") == [(0, 1), (5, 1)]
    assert trace.series("mono") == [(0, 1), (20, 1)]
    assert trace.summary["unrelated_clocks"] == 1


def test_sync_points_convert_piecewise_and_tell_how_far_they_are_off(tmp_path: Path) -> None:
    session = Session(tmp_path / "t")
    real = session.stream("real", REALTIME)
    base = 10**18
    session.sync_points(real, MONOTONIC, REALTIME, (0, base), (100, base + 100), (200, base + 240))
    mono, counter = session.stream("mono", MONOTONIC), session.counter("c")
    for time in (50, 150, 250):
        session.sample(mono, counter, time, time)
    session.end()
    trace = read(tmp_path / "t")
    assert trace.series("c") == [(base + 50, 50), (base + 170, 150), (base + 310, 250)]
    assert trace.summary["clock_residual_ns"] == 20
    assert trace.primary_clock == 1


def test_the_trace_goes_over_to_realtime_while_nothing_is_written_on_its_first_clock(
    tmp_path: Path,
) -> None:
    session = Session(tmp_path / "t")
    mono, counter = session.stream("mono", MONOTONIC), session.counter("c")
    session.sync_points(mono, MONOTONIC, REALTIME, (100, 10**18), (300, 10**18 + 220))
    real, other = session.stream("real", REALTIME), session.counter("d")
    session.sample(mono, counter, 200, 1)
    session.sample(real, other, 10**18 + 5, 2)
    session.end()
    trace = read(tmp_path / "t")
    assert trace.primary_clock == 1
    assert trace.series("c") == [(10**18 + 110, 1)]
    assert trace.series("d") == [(10**18 + 5, 2)]


def test_the_trace_stays_on_the_clock_that_something_is_written_on(tmp_path: Path) -> None:
    session = Session(tmp_path / "t")
    mono, counter = session.stream("mono", MONOTONIC), session.counter("c")
    session.sync_points(mono, MONOTONIC, REALTIME, (100, 10**18))
    session.sample(mono, counter, 200, 1)
    real, other = session.stream("real", REALTIME), session.counter("d")
    session.sample(real, other, 10**18 + 5, 2)
    session.end()
    trace = read(tmp_path / "t")
    assert trace.primary_clock == 3
    assert trace.series("c") == [(200, 1)]
    assert trace.series("d") == [(105, 2)]


def test_a_registered_domain_may_be_tied_until_the_session_ends(tmp_path: Path) -> None:
    session = Session(tmp_path / "t")
    clock = session.time_domain(resolution=1000)  # milliseconds
    own, counter = session.stream("own", clock), session.counter("c")
    session.sample(own, counter, 3, 1)
    session.stream("real", REALTIME)
    session.sync_points(own, clock, REALTIME, (1, 10**15))
    session.end()
    assert read(tmp_path / "t").series("c") == [(10**15 + 2_000_000, 1)]


def test_a_registered_domain_that_nothing_ties_is_dropped_and_told(tmp_path: Path) -> None:
    session = Session(tmp_path / "t")
    own, counter = session.stream("own", session.time_domain()), session.counter("c")
    session.sample(own, counter, 3, 1)
    session.stream("real", REALTIME)
    with pytest.raises(Refused, match="dropped_untied"):
        session.end()
    assert read(tmp_path / "t").summary["dropped_untied"] == 1


def test_a_registered_domain_that_is_alone_needs_no_tie(tmp_path: Path) -> None:
    session = Session(tmp_path / "t")
    own, counter = session.stream("own", session.time_domain()), session.counter("c")
    session.sample(own, counter, 3, 1)
    session.end()
    assert read(tmp_path / "t").series("c") == [(3, 1)]


def test_a_factor_converts_in_ticks_of_both_clocks(tmp_path: Path) -> None:
    session = Session(tmp_path / "t")
    boot = session.stream("boot", BOOTTIME)
    clock = session.time_domain(resolution=10**6)  # microseconds
    session.factor(boot, clock, BOOTTIME, 1000.5, (0, 500))
    own, counter = session.stream("own", clock), session.counter("c")
    session.sample(own, counter, 2, 1)
    session.sample(own, counter, 10**9, 2)
    session.end()
    assert read(tmp_path / "t").series("c") == [(500 + 2001, 1), (500 + 1_000_500_000_000, 2)]


@pytest.mark.parametrize(("ticks", "nanoseconds"), [(1, 333_333_333), (2, 666_666_667)])
def test_ticks_of_an_odd_resolution_round_to_the_nearest_nanosecond(
    tmp_path: Path, ticks: int, nanoseconds: int
) -> None:
    session = Session(tmp_path / "t")
    clock = session.time_domain(resolution=3, start=3)  # thirds of seconds of the Unix epoch
    stream, counter = session.stream("own", clock), session.counter("c")
    session.sample(stream, counter, ticks, 1)
    session.end()
    trace = read(tmp_path / "t")
    assert trace.series("c") == [(nanoseconds, 1)]
    assert trace.primary_clock == 1
