# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from fake_clock import FakeClock
from nvml_script import GPU, NOT_SUPPORTED, NvmlScript
from nvtx_torch_counters import (
    CounterSampler,
    NvmlDevices,
    NvmlUtilizationRing,
    StampedRows,
    Unavailable,
)

REAL = 1_800_000_000_000_000_000
MONOTONIC = 5_000_000_000_000


def ring(real: int = REAL, monotonic: int = MONOTONIC) -> NvmlUtilizationRing:
    return NvmlUtilizationRing("cuda:0", GPU[0], now=lambda: (real, monotonic))


@pytest.mark.parametrize(
    ("clock", "shift"), [(REAL, 0), (MONOTONIC, REAL - MONOTONIC)], ids=["real", "monotonic"]
)
def test_the_drivers_stamps_are_taken_to_real_time(
    nvml: NvmlScript, clock: int, shift: int
) -> None:
    nvml.board(GPU[0])
    stamps = [clock // 1000 - late for late in (500_000, 333_000, 167_000)]
    for stamp, percent in zip(stamps, (10, 20, 30), strict=True):
        nvml.sample(stamp, percent)
    rows = ring().read()
    assert isinstance(rows, StampedRows)
    assert [row.time_ns for row in rows] == [stamp * 1000 + shift for stamp in stamps]
    assert [row.row for row in rows] == [(10,), (20,), (30,)]


def test_each_sample_comes_once_and_none_new_means_unchanged(
    nvml: NvmlScript, clock: FakeClock
) -> None:
    nvml.board(GPU[0])
    nvml.sample(clock.realtime_ns() // 1000 - 3, 10)
    probe = NvmlUtilizationRing("cuda:0", GPU[0], now=lambda: (clock.realtime_ns(), clock.now))
    sampler = CounterSampler([probe], clock=clock)
    sampler.step()
    clock.now += 1_000_000
    sampler.step()
    clock.now += 1_000_000
    nvml.sample(clock.realtime_ns() // 1000 - 2, 90)
    sampler.step()
    samples = sampler.samples("cuda:0 utilization ring")
    sampler.stop()
    assert samples.values["gpu"].tolist() == [10, 10, 90]
    assert samples.state.tolist() == [0, 2, 0]
    assert (np.diff(samples.monotonic) > 0).all()


def test_a_stamp_on_an_unknown_clock_is_a_gap_with_a_reason(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    nvml.sample(77_000_000_000, 10)
    with pytest.raises(Unavailable, match="near neither real time"):
        ring().read()


def test_the_ring_is_taken_along_when_asked_for_and_only_where_it_answers(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    named = "cuda:0 utilization ring"
    assert named not in [probe.name for probe in NvmlDevices({}).discover()]
    assert named in [probe.name for probe in NvmlDevices({}, ring=True).discover()]
    nvml.error("nvmlDeviceGetSamples", NOT_SUPPORTED)
    devices = NvmlDevices({}, ring=True)
    assert named not in [probe.name for probe in devices.discover()]
    assert "Not Supported" in devices.reasons[named]
