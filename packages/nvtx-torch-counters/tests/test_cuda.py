# SPDX-License-Identifier: Apache-2.0
"""CUDA's allocator, faked at the boundary of torch.cuda as its documentation describes it."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from nvml_script import GPU, NvmlScript
from nvtx_torch_counters import CounterSampler, CudaAllocator, CudaDevices, Unavailable

ALLOWED = {
    "is_initialized",
    "device_count",
    "get_device_properties",
    "memory.memory_stats_as_nested_dict",
}
TOTAL = 80 << 30


class FakeCuda:
    """torch.cuda over devices whose allocations a test makes; notes every call of its functions."""

    def __init__(self, devices: int) -> None:
        self.initialised = False
        self.calls: set[tuple[str, int]] = set()
        self.now = [dict.fromkeys(("allocated", "reserved"), 0) for _ in range(devices)]
        self.peak = [dict.fromkeys(("allocated", "reserved"), 0) for _ in range(devices)]
        self.retries = 0
        self.broken: Exception | None = None
        self.uuids: list[str | None] = [uuid.removeprefix("GPU-") for uuid in GPU[:devices]]

    def note(self, name: str) -> None:
        self.calls.add((name, threading.get_ident()))

    def allocate(self, device: int, size: int) -> None:
        """Take (or, below zero, give back) memory: reserved in steps of 2 MiB, never returned."""
        self.initialised = True
        now, peak = self.now[device], self.peak[device]
        now["allocated"] += size
        now["reserved"] = max(now["reserved"], -(-now["allocated"] // (2 << 20)) * (2 << 20))
        for kind in now:
            peak[kind] = max(peak[kind], now[kind])

    def is_initialized(self) -> bool:
        return self.initialised

    def device_count(self) -> int:
        return len(self.now)

    def get_device_properties(self, device: int) -> Any:
        assert self.initialised, "get_device_properties initialises CUDA"
        uuid = self.uuids[device]
        return SimpleNamespace(total_memory=TOTAL, **({} if uuid is None else {"uuid": uuid}))

    def memory_stats_as_nested_dict(self, device: int) -> dict[str, Any]:
        if not self.initialised:
            return {}
        if self.broken is not None:
            raise self.broken
        now, peak = self.now[device], self.peak[device]

        def stat(kind: str) -> dict[str, Any]:
            return {"all": {"current": now[kind], "peak": peak[kind], "allocated": 0, "freed": 0}}

        idle = {"all": {"current": 0, "peak": 0, "allocated": 0, "freed": 0}}
        return {
            "allocated_bytes": stat("allocated"),
            "reserved_bytes": stat("reserved"),
            "active_bytes": stat("allocated"),
            "inactive_split_bytes": idle,
            "num_alloc_retries": self.retries,
            "num_ooms": 0,
        }


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCuda]:
    """Replace every public function of torch.cuda: those allowed are faked, others only noted."""
    fake = FakeCuda(2)
    monkeypatch.setattr(torch.version, "cuda", "13.0")

    def noting(name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            fake.note(name)
            return getattr(fake, name.rpartition(".")[2])(*args, **kwargs)

        return call

    for module, prefix in ((torch.cuda, ""), (torch.cuda.memory, "memory.")):
        for name, function in list(vars(module).items()):
            if inspect.isfunction(function) and not name.startswith("__"):
                monkeypatch.setattr(module, name, noting(prefix + name))
    yield fake
    assert {name for name, _ in fake.calls} <= ALLOWED


def test_a_mebibyte_is_1048576_bytes(cuda: FakeCuda) -> None:
    cuda.allocate(0, 1 << 20)
    cuda.retries = 3
    sampler = CounterSampler([CudaAllocator(0, total=TOTAL)])
    sampler.step()
    sampler.stop()
    samples = sampler.samples("cuda:0 allocator")
    shown = {field: values.tolist()[0] for field, values in samples.values.items()}
    assert shown == {
        "allocated": 1_048_576,
        "reserved": 2_097_152,
        "active": 1_048_576,
        "inactive_split": 0,
        "retries": 3,
        "ooms": 0,
    }
    assert samples.unit("allocated") == "bytes"
    assert samples.schema.fields["reserved"].semantics.max == TOTAL  # type: ignore[union-attr]


def test_before_cuda_is_in_use_there_is_a_gap_not_a_zero(cuda: FakeCuda) -> None:
    sampler = CounterSampler([CudaAllocator(0)])
    sampler.step()
    cuda.allocate(0, 512)
    sampler.step()
    sampler.stop()
    samples = sampler.samples("cuda:0 allocator")
    assert samples.gap[0] == "CUDA is not in use by this process"
    assert samples.valid["allocated"].tolist() == [False, True, True]


def test_devices_join_as_they_come_into_use(cuda: FakeCuda) -> None:
    sampler = CounterSampler([CudaDevices(nvml=False)])
    sampler.step()
    assert sampler.names == []
    assert sampler.report().missing == {"cuda": "CUDA is not in use by this process"}
    cuda.allocate(1, 4096)
    sampler.step()
    assert sampler.names == ["cuda:1 allocator"]
    cuda.allocate(0, 4096)
    sampler.step()
    sampler.stop()
    assert sampler.names == ["cuda:1 allocator", "cuda:0 allocator"]
    assert sampler.samples("cuda:1 allocator").gap[0] == "cuda was not in use yet"
    assert sampler.report().missing == {}


def test_until_cuda_is_initialised_only_that_is_asked(cuda: FakeCuda) -> None:
    sampler = CounterSampler([CudaDevices(nvml=False)])
    for _ in range(5):
        sampler.step()
    sampler.stop()
    assert {name for name, _ in cuda.calls} == {"is_initialized"}


def test_the_samplers_threads_call_only_functions_that_make_no_context(cuda: FakeCuda) -> None:
    cuda.allocate(0, 1 << 20)
    seen = threading.Event()
    stats = cuda.memory_stats_as_nested_dict
    main = threading.get_ident()

    def counted(device: int) -> dict[str, Any]:
        if threading.get_ident() != main:
            seen.set()
        return stats(device)

    cuda.memory_stats_as_nested_dict = counted  # type: ignore[method-assign]
    with CounterSampler([CudaDevices(nvml=False)], interval=0.001):
        assert seen.wait(60)
    in_threads = {name for name, thread in cuda.calls if thread != main}
    assert "memory.memory_stats_as_nested_dict" in in_threads
    assert in_threads <= ALLOWED


def test_nvml_is_asked_about_the_device_that_cuda_means(cuda: FakeCuda, nvml: NvmlScript) -> None:
    cuda.uuids.reverse()  # as CUDA_VISIBLE_DEVICES=1,0 would
    nvml.reset()
    for uuid, used in zip(GPU[:2], (1 << 30, 2 << 30), strict=True):
        nvml.memory(nvml.board(uuid), TOTAL, used)
    cuda.allocate(0, 4096)
    sampler = CounterSampler([CudaDevices()])
    sampler.step()
    sampler.stop()
    assert sampler.samples("cuda:0 memory").values["used"].tolist() == [2 << 30] * 2


@pytest.mark.parametrize("setting", ["1,0", f"{GPU[1]},{GPU[0]}"])
def test_a_torch_that_reports_no_uuid_falls_back_on_the_environment(
    cuda: FakeCuda, nvml: NvmlScript, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    cuda.uuids = [None, None]
    nvml.reset()
    for uuid, used in zip(GPU[:2], (1 << 30, 2 << 30), strict=True):
        nvml.memory(nvml.board(uuid), TOTAL, used)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", setting)
    cuda.allocate(0, 4096)
    sampler = CounterSampler([CudaDevices()])
    sampler.step()
    sampler.stop()
    monkeypatch.undo()
    assert sampler.samples("cuda:0 memory").values["used"].tolist() == [2 << 30] * 2


def test_without_nvml_the_allocator_is_sampled_and_the_reason_is_told(
    cuda: FakeCuda, nvml: NvmlScript
) -> None:
    nvml.error("nvmlInitWithFlags", 9)
    cuda.allocate(0, 4096)
    sampler = CounterSampler([CudaDevices()])
    sampler.step()
    sampler.stop()
    assert sampler.names == ["cuda:0 allocator"]
    why = "NVML cannot be used: Driver Not Loaded"
    assert sampler.report().missing == {"cuda:0 through NVML": why}


def test_an_allocator_without_statistics_leaves_nvmls_counters(
    cuda: FakeCuda, nvml: NvmlScript
) -> None:
    nvml.board(GPU[0])
    cuda.initialised = True
    cuda.broken = RuntimeError("CUDAPluggableAllocator does not yet support getDeviceStats")
    sampler = CounterSampler([CudaDevices()])
    sampler.step()
    sampler.stop()
    assert "cuda:0 memory" in sampler.names
    assert "cuda:0 allocator" not in sampler.names
    assert "getDeviceStats" in sampler.report().missing["cuda:0 allocator"]


def test_a_torch_that_is_still_being_imported_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    devices = CudaDevices()
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert devices.discover() == ()
    assert devices.reasons == {"cuda": "CUDA is not in use by this process"}


def test_a_build_without_cuda_says_so() -> None:
    if torch.version.cuda is not None:
        pytest.skip("this build of PyTorch has CUDA")
    assert "torch" in sys.modules
    devices = CudaDevices()
    assert devices.discover() == ()
    assert devices.reasons == {"cuda": "this build of PyTorch has no CUDA"}
    with pytest.raises(Unavailable, match="not in use"):
        CudaAllocator(0).read()
