# SPDX-License-Identifier: Apache-2.0
"""NVML's probes through the real binding, which has loaded a fake library."""

from __future__ import annotations

import ctypes
import os

import pytest
from fake_clock import MS, FakeClock
from nvml_script import (
    GPU,
    GPU_IS_LOST,
    MIG,
    NO_PERMISSION,
    NOT_SUPPORTED,
    TIMEOUT,
    NvmlScript,
)
from nvtx_torch_counters import CounterSampler, NvmlDevices, Unavailable
from nvtx_torch_counters._clock import RealtimeTie
from nvtx_torch_counters._lane import Lane
from nvtx_torch_counters._nvml import find_device
from nvtx_torch_counters._series import Series

pynvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")

EVERY_COUNTER = {
    "utilization": {"gpu": 37, "memory": 12},
    "memory": {"used": 3 << 30, "free": 77 << 30},
    "power": {"draw": 250.5},
    "temperature": {"gpu": 61},
    "sm clock": {"frequency": 1_980_000_000},
    "memory clock": {"frequency": 2_619_000_000},
    "pcie sent": {"rate": 1_500_000},
    "pcie received": {"rate": 2_500_000},
}


def sampled(sampler: CounterSampler) -> dict[str, dict[str, list[object]]]:
    return {
        name: {
            field: values[sampler.samples(name).valid[field]].tolist()
            for field, values in sampler.samples(name).values.items()
        }
        for name in sampler.names
    }


def test_the_binding_has_loaded_the_fake_library(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    NvmlDevices({}).discover()
    loaded = pynvml._nvmlGetFunctionPointer("nvmlInitWithFlags")
    ours = nvml.library.nvmlInitWithFlags
    address = ctypes.cast(loaded, ctypes.c_void_p).value
    assert address == ctypes.cast(ours, ctypes.c_void_p).value
    assert nvml.calls("nvmlInitWithFlags") == 1


def test_every_counter_of_a_board_has_its_value_and_unit(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    sampler = CounterSampler([NvmlDevices({})])
    sampler.step()
    sampler.stop()
    assert sampled(sampler) == {
        f"cuda:0 {group}": {field: [value, value] for field, value in fields.items()}
        for group, fields in EVERY_COUNTER.items()
    }
    units = {name: sampler.samples(name).schema for name in sampler.names}
    shown = {n: [f.semantics.unit for f in s.fields.values()] for n, s in units.items()}  # type: ignore[union-attr]
    assert shown["cuda:0 utilization"] == [b"percent", b"percent"]
    assert shown["cuda:0 memory"] == [b"bytes", b"bytes"]
    assert shown["cuda:0 power"] == [b"watts"]
    assert shown["cuda:0 sm clock"] == [b"hertz"]
    limits = units["cuda:0 utilization"].fields["gpu"].semantics
    assert (limits.min, limits.max) == (0, 100)  # type: ignore[union-attr]
    assert units["cuda:0 memory"].fields["used"].semantics.max == 80 << 30  # type: ignore[union-attr]
    assert units["cuda:0 power"].fields["draw"].semantics.max == 700.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("2,0", [GPU[2], GPU[0]]),
        (f"{GPU[1]}", [GPU[1]]),
        ("GPU-2,GPU-1", [GPU[2], GPU[1]]),
        (MIG[1], [MIG[1]]),
        ("3", [MIG[0]]),
        ("", []),
    ],
)
def test_counters_are_those_of_the_devices_that_cuda_would_show(
    nvml: NvmlScript, setting: str, shown: list[str]
) -> None:
    for uuid in GPU[:3]:
        nvml.board(uuid)
    split = nvml.board(GPU[3], mig=True)
    nvml.instance(split, MIG[0])
    nvml.instance(split, MIG[1])
    devices = NvmlDevices({"CUDA_VISIBLE_DEVICES": setting})
    found = {probe.name: probe for probe in devices.discover()}
    assert [found[f"cuda:{n} memory"].uuid for n in range(len(shown))] == shown  # type: ignore[attr-defined]
    assert f"cuda:{len(shown)} memory" not in found
    if not shown:
        assert devices.reasons == {"nvml": "CUDA_VISIBLE_DEVICES shows no device that NVML knows"}


def test_an_instance_has_memory_and_no_invented_utilization(nvml: NvmlScript) -> None:
    nvml.instance(nvml.board(GPU[0], mig=True), MIG[0])
    devices = NvmlDevices({"CUDA_VISIBLE_DEVICES": MIG[0]})
    assert [probe.name for probe in devices.discover()] == ["cuda:0 memory"]
    assert "Not Supported" in devices.reasons["cuda:0 utilization"]
    assert "Not Supported" in devices.reasons["cuda:0 power"]


@pytest.mark.parametrize("code", [NOT_SUPPORTED, NO_PERMISSION])
def test_what_is_refused_at_first_is_no_counter_but_a_reason_told_once(
    nvml: NvmlScript, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "nvtx_torch_counters")
    nvml.board(GPU[0])
    nvml.error("nvmlDeviceGetUtilizationRates", code)
    sampler = CounterSampler([NvmlDevices({})])
    for _ in range(3):
        sampler.step()
    sampler.stop()
    assert "cuda:0 utilization" not in sampler.names
    assert len(sampler.names) == len(EVERY_COUNTER) - 1
    assert list(sampler.report().missing) == ["cuda:0 utilization"]
    why = sampler.report().missing["cuda:0 utilization"]
    assert caplog.messages == [f"cuda:0 utilization is not sampled: {why}"]


def test_a_permission_lost_later_ends_that_counter_alone(
    nvml: NvmlScript, caplog: pytest.LogCaptureFixture
) -> None:
    nvml.board(GPU[0])
    nvml.error("nvmlDeviceGetPowerUsage", NO_PERMISSION, uuid=GPU[0], first=50)
    sampler = CounterSampler([NvmlDevices({})])
    for _ in range(80):
        sampler.step()
    sampler.stop()
    reports = {probe.name: probe for probe in sampler.report().probes}
    assert reports["cuda:0 power"].reads == 49  # one call looked whether it answers
    assert "Insufficient Permissions" in reports["cuda:0 power"].state
    power = sampler.samples("cuda:0 power")
    assert power.valid["draw"].tolist() == [True] * 48 + [False]
    assert sampler.samples("cuda:0 memory").valid["used"].tolist() == [True] * 81
    assert [r.getMessage() for r in caplog.records if r.levelname == "WARNING"] == [
        f"probe 'cuda:0 power' {reports['cuda:0 power'].state}"
    ]


def test_a_passing_failure_is_a_gap_and_the_counter_goes_on(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    nvml.error("nvmlDeviceGetMemoryInfo", TIMEOUT, first=4, last=5)
    sampler = CounterSampler([NvmlDevices({})])
    for _ in range(5):
        sampler.step()
    sampler.stop()
    memory = sampler.samples("cuda:0 memory")
    assert memory.valid["used"].tolist() == [True, False, True, True, True]
    assert memory.gap[1] == "NVML: Timeout"


def test_a_lost_device_ends_its_counters_and_those_of_others_go_on(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    nvml.board(GPU[1])
    for function in ("UtilizationRates", "MemoryInfo", "PowerUsage", "Temperature", "ClockInfo"):
        nvml.error(f"nvmlDeviceGet{function}", GPU_IS_LOST, uuid=GPU[0], first=5)
    sampler = CounterSampler([NvmlDevices({})])
    for _ in range(10):
        sampler.step()
    sampler.stop()
    states = {probe.name: probe.state for probe in sampler.report().probes}
    assert states["cuda:0 memory"].startswith("stopped: NVMLError_GpuIsLost")
    assert states["cuda:1 memory"] == "the sampler was stopped"
    assert sampler.samples("cuda:1 memory").valid["used"].all()


@pytest.mark.parametrize("how", ["refused", "zero"])
def test_unified_memory_is_told_and_never_zero(nvml: NvmlScript, how: str) -> None:
    device = nvml.board(GPU[0])
    if how == "refused":
        nvml.error("nvmlDeviceGetMemoryInfo", NOT_SUPPORTED)
    else:
        nvml.memory(device, 0, 0)
    devices = NvmlDevices({})
    names = [probe.name for probe in devices.discover()]
    assert "cuda:0 memory" not in names
    assert "cuda:0 utilization" in names
    expected = "Not Supported" if how == "refused" else "unified"
    assert expected in devices.reasons["cuda:0 memory"]


def test_a_field_marked_as_without_value_is_unknown(nvml: NvmlScript) -> None:
    device = nvml.board(GPU[0])
    nvml.value(device, 3, 2**32 - 1)
    devices = NvmlDevices({})
    assert "cuda:0 temperature" not in [probe.name for probe in devices.discover()]
    assert devices.reasons["cuda:0 temperature"] == "NVML has no value"


def test_slow_calls_are_timed_and_not_caught_up_with(nvml: NvmlScript, clock: FakeClock) -> None:
    def pass_time(microseconds: int) -> None:
        clock.now += microseconds * 1000

    nvml.reset(pass_time)
    nvml.board(GPU[0])
    (probe,) = (p for p in NvmlDevices({}).discover() if p.name == "cuda:0 utilization")
    nvml.delay("nvmlDeviceGetUtilizationRates", 5_000)
    nvml.delay("nvmlDeviceGetUtilizationRates", 195_000, first=4, last=4)  # 200 ms with the other
    series = Series(probe, 1024)
    tie = RealtimeTie.read(clock)
    series.open()
    lane = Lane("nvml", 10 * MS, [lambda: series.take(clock, tie)], clock)
    clock.waits = 6
    lane.run()
    rows = series.rows()
    begins = ((rows.time - rows.error) // MS - 1_000).tolist()
    assert begins == [10, 20, 30, 240, 250, 260]
    assert (rows.error // 1000).tolist() == [2_500, 2_500, 100_000, 2_500, 2_500, 2_500]
    assert (lane.ticks, lane.missed) == (6, 20)
    assert series.slowest_ns == 200 * MS


def test_a_forked_child_initialises_nvml_and_takes_handles_anew(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    sampler = CounterSampler([NvmlDevices({})])
    sampler.step()
    handles = nvml.calls("nvmlDeviceGetHandleByUUID")
    child = os.fork()
    if child == 0:
        try:
            sampler.step()
            fine = nvml.calls("nvmlInitWithFlags") == 2
            fine &= nvml.calls("nvmlDeviceGetHandleByUUID") == handles + len(EVERY_COUNTER)
            fine &= bool(sampler.samples("cuda:0 memory").valid["used"].all())
            os._exit(0 if fine and len(sampler.samples("cuda:0 memory")) == 1 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    sampler.step()
    sampler.stop()
    assert nvml.calls("nvmlInitWithFlags") == 1


def test_no_call_lists_processes_and_handles_are_kept(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    sampler = CounterSampler([NvmlDevices({})])
    sampler.step()
    before = nvml.calls("nvmlDeviceGetHandleByUUID")
    for _ in range(20):
        sampler.step()
    sampler.stop()
    assert nvml.calls("nvmlDeviceGetHandleByUUID") == before
    assert not hasattr(nvml.library, "nvmlDeviceGetComputeRunningProcesses_v3")


def test_a_device_is_found_by_the_uuid_that_cuda_reports(nvml: NvmlScript) -> None:
    nvml.board(GPU[0])
    nvml.instance(nvml.board(GPU[1], mig=True), MIG[0])
    assert find_device(7, GPU[0].removeprefix("GPU-")).uuid == GPU[0]
    assert find_device(0, MIG[0].removeprefix("MIG-")).uuid == MIG[0]
    with pytest.raises(Unavailable, match="knows no device with the UUID dead"):
        find_device(0, "dead")


def test_without_a_driver_there_is_a_reason(nvml: NvmlScript) -> None:
    nvml.error("nvmlInitWithFlags", 9)
    devices = NvmlDevices({})
    assert devices.discover() == []
    assert devices.reasons == {"nvml": "NVML cannot be used: Driver Not Loaded"}
