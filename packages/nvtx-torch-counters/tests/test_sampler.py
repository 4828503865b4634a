# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_clock import MS, FakeClock
from nvtx_torch_counters import (
    CounterSampler,
    FunctionProbe,
    IntervalError,
    Probe,
    ProbeError,
    SamplerError,
    Unavailable,
)


def counting(name: str = "p", **options: Any) -> FunctionProbe:
    """Return a probe whose n-th read is n."""
    reads = iter(range(1_000_000))
    return FunctionProbe(name, {"n": np.int64}, lambda: (next(reads),), **options)


class Resource(FunctionProbe):
    """A probe that notes in what order it is used."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        super().__init__("resource", {"n": np.int64}, self._answer)

    def open(self) -> None:
        self.calls.append("open")

    def _answer(self) -> tuple[int]:
        self.calls.append("read")
        return (1,)

    def close(self) -> None:
        self.calls.append("close")


@pytest.mark.parametrize(
    "interval", [0, -1, 1e-6, 0.000999, math.nan, math.inf, "fast", True, None]
)
def test_an_interval_that_cannot_be_is_refused_with_the_smallest(interval: Any) -> None:
    with pytest.raises(IntervalError, match="interval is"):
        CounterSampler([], interval=interval)
    if interval is not None:
        with pytest.raises(ValueError, match="interval is"):
            CounterSampler([counting(interval=interval)])


def test_two_probes_of_one_name_are_refused() -> None:
    with pytest.raises(ProbeError, match="two probes are named 'p'"):
        CounterSampler([counting(), counting()])


def test_there_is_a_sample_at_start_and_one_at_stop_however_short_the_run() -> None:
    sampler = CounterSampler([counting()], interval=3600)
    sampler.start()
    sampler.stop()
    assert sampler.samples("p").values["n"].tolist() == [0, 1]


def test_samples_come_on_schedule_in_the_background() -> None:
    seen = threading.Event()
    reads: list[int] = []

    def read() -> tuple[int]:
        reads.append(threading.get_ident())
        if len(reads) == 20:
            seen.set()
        return (len(reads),)

    with CounterSampler([FunctionProbe("p", {"n": np.int64}, read)], interval=0.001) as sampler:
        assert seen.wait(60)
    samples = sampler.samples("p")
    assert samples.values["n"].tolist() == list(range(1, len(reads) + 1))
    assert (np.diff(samples.monotonic) > 0).all()
    assert len(set(reads)) == 2


def test_probes_are_opened_and_closed_at_every_run_also_after_an_error_in_the_block() -> None:
    probe = Resource()
    sampler = CounterSampler([probe], interval=3600)
    with pytest.raises(RuntimeError, match="training failed"), sampler:
        raise RuntimeError("training failed")
    with sampler:
        pass
    assert probe.calls == ["open", "read", "read", "close"] * 2
    assert not sampler.running


def test_a_second_run_goes_on_with_a_gap_between() -> None:
    sampler = CounterSampler([counting()], interval=3600)
    for _ in range(2):
        with sampler:
            pass
    samples = sampler.samples("p")
    assert samples.valid["n"].tolist() == [True, True, False, True, True]
    assert samples.gap[2] == "the sampler was stopped"
    assert (np.diff(samples.monotonic) >= 0).all()


def test_start_while_running_is_refused_and_stop_twice_is_not() -> None:
    sampler = CounterSampler([counting()], interval=3600)
    with sampler, pytest.raises(SamplerError, match="is running"):
        sampler.start()
    sampler.stop()


def test_step_samples_in_this_thread_without_another(clock: FakeClock) -> None:
    before = threading.active_count()
    sampler = CounterSampler([counting(), counting("slow", interval=60)], clock=clock)
    for _ in range(3):
        sampler.step()
        clock.now += 5 * MS
        assert threading.active_count() == before
    sampler.stop()
    assert sampler.samples("p").values["n"].tolist() == [0, 1, 2, 3]
    assert sampler.samples("slow").values["n"].tolist() == [0, 1, 2, 3]
    assert np.diff(sampler.samples("p").monotonic).tolist() == [5 * MS] * 3


def test_one_failing_probe_stops_alone_and_the_report_says_why() -> None:
    def fail() -> tuple[int]:
        raise OSError("device fell off the bus")

    broken = FunctionProbe("broken", {"n": np.int64}, fail)
    sampler = CounterSampler([broken, counting()])
    for _ in range(5):
        sampler.step()
    sampler.stop()
    report = {probe.name: probe for probe in sampler.report().probes}
    assert report["broken"].state == "stopped: OSError: device fell off the bus"
    assert (report["broken"].reads, report["broken"].rows) == (1, 1)
    assert (report["p"].reads, report["p"].gaps) == (6, 0)
    assert "device fell off the bus" in str(sampler.report())


def test_a_probe_that_cannot_be_opened_stays_out_of_this_run_alone() -> None:
    class Shut(FunctionProbe):
        def open(self) -> None:
            raise Unavailable("no such device")

    shut = Shut("shut", {"n": np.int64}, lambda: (1,))
    sampler = CounterSampler([shut, counting()])
    sampler.step()
    states = {probe.name: probe.state for probe in sampler.report().probes}
    sampler.stop()
    assert states == {"shut": "could not be opened: no such device", "p": "running"}


class Late:
    """A source whose device comes into use at the third look."""

    name = "gpu"

    def __init__(self) -> None:
        self.looks = 0
        self.reasons = {"gpu": "not in use"}

    def discover(self) -> Sequence[Probe]:
        self.looks += 1
        return [counting("gpu memory")] if self.looks == 3 else []


def test_a_device_that_comes_into_use_later_joins_after_a_gap_from_the_start(
    clock: FakeClock,
) -> None:
    sampler = CounterSampler([Late()], clock=clock)
    started = clock.now
    for _ in range(4):
        sampler.step()
        clock.now += 5 * MS
    sampler.stop()
    samples = sampler.samples("gpu memory")
    assert samples.monotonic[0] == started
    assert samples.gap[0] == "gpu was not in use yet"
    assert samples.valid["n"].tolist() == [False, True, True, True]
    assert np.diff(samples.monotonic).tolist() == [10 * MS, 5 * MS, 5 * MS]
    assert sampler.report().missing == {"gpu": "not in use"}


def test_a_late_device_is_sampled_by_a_running_sampler() -> None:
    joined = threading.Event()

    class Second(Late):
        def discover(self) -> Sequence[Probe]:
            self.looks += 1
            return [FunctionProbe("q", {"n": np.int64}, read)] if self.looks == 2 else []

    reads: list[int] = []

    def read() -> tuple[int]:
        reads.append(1)
        if len(reads) == 5:
            joined.set()
        return (len(reads),)

    with CounterSampler([Second()], interval=0.001) as sampler:
        assert joined.wait(60)
    assert sampler.samples("q").values["n"][1:].tolist() == list(range(1, len(reads) + 1))


def test_a_source_that_fails_is_asked_no_more(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Late):
        def discover(self) -> Sequence[Probe]:
            self.looks += 1
            raise OSError("driver gone")

    source = Failing()
    sampler = CounterSampler([source, counting()])
    for _ in range(3):
        sampler.step()
    sampler.stop()
    assert source.looks == 1
    assert sampler.report().missing == {"gpu": "the search ended: OSError: driver gone"}
    assert len(caplog.records) == 1


def test_the_counters_of_a_second_sampler_are_numbered_while_both_run() -> None:
    def names(sampler: CounterSampler) -> list[str]:
        return [sampler.samples(name).name for name in sampler.names]

    first, second, third = (CounterSampler([counting()], interval=3600) for _ in range(3))
    with first:
        with second:
            assert (names(first), names(second)) == (["p"], ["p#2"])
        with third:
            assert names(third) == ["p#2"]
    with second:
        assert names(second) == ["p"]


def test_a_full_ring_keeps_the_newest_and_the_report_counts_the_rest() -> None:
    sampler = CounterSampler([counting()], capacity=1024)
    for _ in range(1_500):
        sampler.step()
    sampler.stop()
    assert sampler.samples("p").values["n"].tolist() == list(range(477, 1_501))
    assert sampler.report().probes[0].overwritten == 477
    assert "oldest 477 rows were overwritten" in str(sampler.report())


def test_a_hung_probe_delays_neither_the_others_nor_stop() -> None:
    hang, entered = threading.Event(), threading.Event()
    reads: list[int] = []

    def stuck() -> tuple[int]:
        reads.append(1)
        if len(reads) > 1:
            entered.set()
            assert hang.wait(60)
        return (1,)

    slow = FunctionProbe("slow", {"n": np.int64}, stuck, interval=0.002)
    sampler = CounterSampler([slow, counting()], interval=0.001)
    sampler.start()
    lanes = [t for t in threading.enumerate() if t.name.startswith("nvtx-counters")]
    assert entered.wait(60)
    sampler.stop(timeout=0.01)
    assert sampler.samples("p").valid["n"].all()
    assert len(sampler.samples("slow")) == 1
    hang.set()
    for lane in lanes:
        lane.join(60)


def test_a_probe_that_still_hangs_is_left_out_of_the_next_run() -> None:
    hang, entered = threading.Event(), threading.Event()
    reads: list[int] = []

    def stuck() -> tuple[int]:
        reads.append(1)
        if len(reads) > 1:
            entered.set()
            assert hang.wait(60)
        return (1,)

    sampler = CounterSampler([FunctionProbe("slow", {"n": np.int64}, stuck)], interval=0.001)
    sampler.start()
    lanes = [t for t in threading.enumerate() if t.name.startswith("nvtx-counters")]
    assert entered.wait(60)
    sampler.stop(timeout=0.01)
    sampler.step()
    state = sampler.report().probes[0].state
    sampler.stop(timeout=0.01)
    assert state == "is left out: a read of the last run still hangs"
    hang.set()
    for lane in lanes:
        lane.join(60)


def test_a_search_that_hangs_does_not_hold_stop_up(tmp_path: Path) -> None:
    hang, entered = threading.Event(), threading.Event()

    class Stuck(Late):
        def discover(self) -> Sequence[Probe]:
            self.looks += 1
            if self.looks > 1:
                entered.set()
                assert hang.wait(60)
            return ()

    sampler = CounterSampler([Stuck(), counting()], interval=3600, output=tmp_path / "out.csv")
    sampler.start()
    lanes = [t for t in threading.enumerate() if t.name.startswith("nvtx-counters")]
    assert entered.wait(60)
    sampler.stop(timeout=0.01)
    assert not sampler.running
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3
    hang.set()
    for lane in lanes:
        lane.join(60)


def test_a_step_of_the_machines_clock_is_counted_and_the_scale_stays(clock: FakeClock) -> None:
    sampler = CounterSampler([counting()], clock=clock)
    sampler.step()
    clock.offset += 3_600_000 * MS
    clock.now += MS
    sampler._keep_up()
    sampler.step()
    sampler.stop()
    assert np.diff(sampler.samples("p").time).tolist()[0] == MS
    assert (sampler.report().clock_steps, sampler.report().largest_step_ns) == (1, 3_600_000 * MS)


def test_an_unknown_group_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(SamplerError, match=r"no counter group is named 'q'; there are \['p'\]"):
        CounterSampler([counting()]).samples("q")
