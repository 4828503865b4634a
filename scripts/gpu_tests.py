# SPDX-License-Identifier: Apache-2.0
"""Check on a machine with an NVIDIA GPU what no other machine can show, and print one table.

Needs PyTorch with CUDA, nvtx-torch-counters[nvml], and for live recording the other packages and
what reads traces: `nox -s gpu_tests` installs all of it.
The exit status is 0 when every check passed, 1 when one failed or all together took longer than
six minutes, and 2, with the reason, where there is no GPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable

import gpu_capture

MIB = 1 << 20
CAPTURES = 100
LONGEST_S = 360.0

#: In a process of its own, because CUDA reads CUDA_VISIBLE_DEVICES once.
_COMPARE_UUIDS = """
import torch
from nvtx_torch_counters import NvmlDevices
found = {p.name: p.uuid for p in NvmlDevices().discover()}
for index in range(torch.cuda.device_count()):
    cuda = str(torch.cuda.get_device_properties(index).uuid)
    nvml = found[f"cuda:{index} memory"]
    assert nvml.endswith(cuda), (nvml, cuda)
assert len({n.split()[0] for n in found}) == torch.cuda.device_count(), found
print(torch.cuda.device_count())
"""

_SAMPLE_WITHOUT_CUDA = """
import os, time, pynvml, torch
from nvtx_torch_counters import CounterSampler, NvmlDevices, default_probes
pynvml.nvmlInit()
handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
def used():
    return [pynvml.nvmlDeviceGetMemoryInfo(handle).used for handle in handles]
before = used()
with CounterSampler([*default_probes(), NvmlDevices()], interval=0.001) as sampler:
    time.sleep(1)
    grown = [after - first for after, first in zip(used(), before)]
    assert not torch.cuda.is_initialized()
    assert max(grown) < 64 << 20, grown  # a context takes some hundred MiB
child = os.fork()
if child == 0:
    status = 1
    try:
        assert torch.ones(4, device="cuda").sum().item() == 4
        status = 0
    finally:
        os._exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "a forked child cannot use CUDA"
print(max(grown))
"""

_ONE_DEVICE_ONLY = """
import time, torch
from nvtx_torch_counters import CounterSampler
if torch.cuda.device_count() > 1:
    with CounterSampler(interval=0.001) as sampler:
        kept = torch.ones(1 << 20, device="cuda:1")
        time.sleep(1)
    assert "cuda:1 allocator" in sampler.names, sampler.names
    assert "cuda:0 allocator" not in sampler.names, sampler.names
    assert not torch._C._cuda_hasPrimaryContext(0), "sampling made a context on device 0"
    print("device 1 in use, none on device 0")
else:
    print("not shown: one device only")
"""


def in_process(script: str, **environment: str) -> str:
    """Run a script in a process of its own; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout.strip()


def allocator_is_exact() -> str:
    """One MiB more allocated shows as 1,048,576 more bytes, and as much as PyTorch says."""
    import torch
    from nvtx_torch_counters import CounterSampler, CudaAllocator

    torch.ones(1, device="cuda")
    sampler = CounterSampler([CudaAllocator(0)])
    sampler.step()
    kept = torch.empty(MIB, dtype=torch.uint8, device="cuda")
    sampler.step()
    by_torch = torch.cuda.memory_allocated(0)
    del kept
    sampler.step()
    sampler.stop()
    first, second, third, _ = sampler.samples("cuda:0 allocator").values["allocated"].tolist()
    assert (second - first, third - first) == (MIB, 0), (first, second, third)
    assert second == by_torch, (second, by_torch)
    return f"{second - first} bytes"


def peak_is_exact() -> str:
    """A region that raises the process's peak has it to the byte, unasked for resets included."""
    import torch
    from nvtx_torch_counters import CounterSampler, CudaAllocator

    sampler = CounterSampler([CudaAllocator(0)])
    sampler.step()
    torch.cuda.reset_peak_memory_stats(0)
    base = torch.cuda.memory_allocated(0)
    with sampler.peak("spike") as region:
        torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
    sampler.stop()
    peak = region.values["cuda:0 allocator.allocated"]
    assert peak.exact, peak
    assert peak.value - base == 256 * MIB, (peak, base)
    assert torch.cuda.max_memory_allocated(0) == peak.value
    return f"{int(peak.value - base) // MIB} MiB above the base, user's statistics untouched"


def devices_are_mapped_by_uuid() -> str:
    """NVML's and CUDA's idea of each device agree under every form of CUDA_VISIBLE_DEVICES."""
    import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]

    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    uuids = [pynvml.nvmlDeviceGetUUID(handle) for handle in handles]
    backwards = range(len(uuids) - 1, -1, -1)
    forms = [
        ",".join(map(str, range(len(uuids)))),
        ",".join(map(str, backwards)),
        uuids[-1],
        ",".join(uuids[index] for index in backwards),
        uuids[0][:12],
    ]
    for form in forms:
        shown = in_process(
            _COMPARE_UUIDS, CUDA_VISIBLE_DEVICES=form, CUDA_DEVICE_ORDER="PCI_BUS_ID"
        )
        assert int(shown) >= 1, form
    assert in_process(_COMPARE_UUIDS, CUDA_VISIBLE_DEVICES="") == "0"
    return f"{len(forms) + 1} forms, {len(uuids)} devices"


def no_context_is_made() -> str:
    """Sampling before CUDA is used takes no device memory and leaves forked children able."""
    return f"{int(in_process(_SAMPLE_WITHOUT_CUDA)) // MIB} MiB of device memory taken"


def no_context_elsewhere() -> str:
    """Sampling a process that uses device 1 makes no context on device 0."""
    return in_process(_ONE_DEVICE_ONLY)


def graphs_are_captured_while_sampling() -> str:
    """A graph is captured and replayed a hundred times beside a sampler at 1 ms."""
    import torch
    from nvtx_torch_counters import CounterSampler, NvmlDevices, default_probes

    data = torch.randn(512, 512, device="cuda")
    torch.mm(data, data)  # libraries make their handles outside a capture
    torch.cuda.synchronize()
    with CounterSampler([*default_probes(), NvmlDevices()], interval=0.001) as sampler:
        for _ in range(CAPTURES):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):  # global capture mode, the strictest
                result = data
                for _ in range(20):
                    result = torch.mm(result, data)
            graph.replay()
        torch.cuda.synchronize()
        lane = min(sampler.report().lanes, key=lambda lane: lane.interval_s)
    assert lane.ticks > CAPTURES, lane
    states = {probe.name: probe.state for probe in sampler.report().probes}
    stopped = {n: s for n, s in states.items() if s.startswith("stopped")}
    assert not stopped, stopped
    return f"{CAPTURES} captures, {lane.ticks} ticks"


def utilization_rises_under_load() -> str:
    """The device's utilization is higher while it works than while it rests."""
    import torch
    from nvtx_torch_counters import CounterSampler, NvmlDevices

    data = torch.randn(4096, 4096, device="cuda")
    torch.cuda.synchronize()
    probes = NvmlDevices()
    sampler = CounterSampler([probes])
    with sampler:
        time.sleep(2)
        loaded = time.monotonic_ns()
        while time.monotonic_ns() - loaded < 4_000_000_000:
            for _ in range(20):
                data = torch.mm(data, data).clamp_(-1, 1)
            torch.cuda.synchronize()
    assert "cuda:0 utilization" in sampler.names, sampler.report().missing
    samples = sampler.samples("cuda:0 utilization")
    percent = samples.values["gpu"]
    at_rest = int(percent[samples.monotonic < loaded].max())
    at_work = int(percent[samples.monotonic > loaded + 1_000_000_000].max())
    assert at_work >= 50, (at_rest, at_work)
    assert at_work > at_rest, (at_rest, at_work)
    return f"{at_rest} % at rest, {at_work} % at work"


def reads_are_cheap() -> str:
    """What one read of each probe took on this machine."""
    import torch
    from nvtx_torch_counters import CounterSampler, CudaDevices

    torch.ones(1, device="cuda")
    sampler = CounterSampler([CudaDevices()])
    for _ in range(200):
        sampler.step()
    sampler.stop()
    report = sampler.report()
    assert all(probe.gaps == 0 for probe in report.probes), report
    return ", ".join(f"{probe.name} {probe.mean_ns / 1e3:.0f} us" for probe in report.probes)


CHECKS: tuple[Callable[[], str], ...] = (
    no_context_is_made,
    no_context_elsewhere,
    devices_are_mapped_by_uuid,
    allocator_is_exact,
    peak_is_exact,
    graphs_are_captured_while_sampling,
    utilization_rises_under_load,
    reads_are_cheap,
    gpu_capture.autograd_ranges_are_balanced,
    gpu_capture.torch_cuda_nvtx_is_captured,
    gpu_capture.training_is_captured,
)


def missing() -> str | None:
    """Return why the checks cannot run here, None where they can; makes no context."""
    try:
        import nvtx_torch_counters  # noqa: F401 - asked whether it is there
        import torch
    except ImportError as error:
        return f"{error}; install torch and nvtx-torch-counters[nvml]"
    if torch.version.cuda is None:
        return f"PyTorch {torch.__version__} was built without CUDA; install a CUDA build"
    try:
        import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]

        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
    except ImportError:
        return "nvidia-ml-py is missing; pip install nvtx-torch-counters[nvml]"
    except pynvml.NVMLError as error:
        return f"NVML finds no driver: {error}"
    return None if count else "NVML finds no GPU"


def main() -> int:
    """Run every check; return the exit status."""
    why = missing()
    if why is not None:
        print(f"gpu_tests: there is no GPU to test on: {why}", file=sys.stderr)
        return 2
    print(f"{'check':40} {'result':8} {'seconds':>8}  detail")
    began = time.monotonic()
    passed = sum([is_passed(check) for check in CHECKS])
    took = time.monotonic() - began
    print(f"{passed} of {len(CHECKS)} checks passed in {took:.0f} s")
    if took > LONGEST_S:
        print(f"gpu_tests: took longer than {LONGEST_S:.0f} s", file=sys.stderr)
    return 0 if passed == len(CHECKS) and took <= LONGEST_S else 1


def is_passed(check: Callable[[], str]) -> bool:
    """Run one check and print its line of the table; a failure must not hide the other checks."""
    began = time.monotonic()
    try:
        result, detail = "passed", check()
    except Exception as error:  # noqa: BLE001 - checks fail in whatever way they do
        result, detail = "FAILED", f"{type(error).__name__}: {error}"
        traceback.print_exc()
    took = time.monotonic() - began
    print(f"{check.__name__.replace('_', ' '):40} {result:8} {took:8.1f}  {detail}", flush=True)
    return result == "passed"


if __name__ == "__main__":
    sys.exit(main())
