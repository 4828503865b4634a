# SPDX-License-Identifier: Apache-2.0
"""What `gpu_tests.py` checks of live recording on a GPU: programs under `nvtx-perfetto run`.

Their traces are read back by the real trace processor, so `tests/support` must find its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

if TYPE_CHECKING:
    from support import Slice, Trace

STEPS = 4
SECONDS = 120

_MODEL = """
import torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(64, nhead=4, dim_feedforward=128, batch_first=True)
model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 2), torch.nn.Linear(64, 10))
model = model.to("cuda")
def step():
    model(torch.randn(8, 16, 64, device="cuda")).square().mean().backward()
"""

_HOOKS = f"""
import nvtx_hooks
nvtx_hooks.patch(model)
assert nvtx_hooks.is_patched(model), "the nvtx package found no tool"
for _ in range({STEPS}):
    step()
torch.cuda.synchronize()
"""

_TORCH_NVTX = f"""
import torch
nvtx = torch.cuda.nvtx
for number in range({STEPS}):
    nvtx.range_push(f"outer {{number}}")
    nvtx.range_push("inner")
    nvtx.mark("mark")
    nvtx.range_pop()
    nvtx.range_pop()
    ranges = [nvtx.range_start(f"free {{each}}") for each in range(2)]
    for each in ranges:  # crossing, as start/end ranges may
        nvtx.range_end(each)
"""

_TRAINING = f"""
import nvtx, nvtx_hooks
from nvtx_torch_counters import CounterSampler, CudaAllocator
step()
nvtx_hooks.patch(model)
sampler = CounterSampler([CudaAllocator(0)], interval=0.001)
with sampler:
    for number in range({STEPS}):
        with nvtx.annotate(f"step {{number}}", domain="trainer"):
            torch.cuda.nvtx.range_push("forward and backward")
            step()
            torch.cuda.nvtx.range_pop()
            torch.cuda.synchronize()
print(int(sampler.samples("cuda:0 allocator").values["allocated"].max()))
"""


def captured(program: str) -> tuple[Trace, str]:
    """Record a program; give its trace and what it printed, if nothing was lost or left open."""
    from support import Trace, TraceProcessor

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "trace.pftrace"
        tool = (sys.executable, "-m", "nvtx_perfetto", "run", "-o", str(output), "--")
        done = subprocess.run(
            [*tool, sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2_000:]
        with TraceProcessor() as processor:
            trace = Trace(processor, output)
            assert not trace.problems, trace.problems
            open_ranges = [row.name for row in trace.slices if row.dur < 0]
            assert not open_ranges, f"ranges that never end: {open_ranges}"
            _ = trace.counters, trace.flows, trace.tracks
    summary = {kind for row in _named(trace, "nvtx-perfetto summary") for kind in row.args}
    # CUDA's own objects are named through calls that a timeline has no use for; they are counted.
    odd = summary - {
        f"summary.{kind}" for kind in ("events", "counter_samples", "unsupported_calls")
    }
    assert not odd, f"the recording had to repair or drop something: {odd}"
    return trace, done.stdout


def autograd_ranges_are_balanced() -> str:
    """Modules have as many backward as forward ranges, the backward ones in autograd's thread."""
    trace, _ = captured(_MODEL + _HOOKS)
    phases = {name: _of(trace, f"torch.nn,{name}") for name in ("forward", "backward")}
    assert len(phases["forward"]) > STEPS, "no module has a range"
    names = {phase: sorted(str(row.name) for row in rows) for phase, rows in phases.items()}
    assert names["forward"] == names["backward"], names
    threads = {phase: {row.track.thread for row in rows} for phase, rows in phases.items()}
    assert len(threads["forward"]) == len(threads["backward"]) == 1, threads
    assert threads["forward"] != threads["backward"], threads
    for phase, rows in phases.items():
        roots = [row for row in rows if row.depth == 0]
        assert len(roots) == STEPS, f"{len(roots)} {phase} passes, expected {STEPS}"
    return f"{len(phases['forward'])} forward, {len(phases['backward'])} backward ranges"


def torch_cuda_nvtx_is_captured() -> str:
    """Ranges, marks and start/end ranges of torch.cuda.nvtx are recorded, each exactly once."""
    trace, _ = captured(_TORCH_NVTX)
    found = sorted((row.name, row.parent) for row in trace.slices if row.category == "NVTX")
    expected: list[tuple[str | None, str | None]] = []
    for number in range(STEPS):
        outer = f"outer {number}"
        expected += [(outer, None), ("inner", outer), ("mark", "inner")]
        expected += [("free 0", None), ("free 1", None)]
    assert found == sorted(expected, key=str), found
    return f"{len(found)} events of torch's own copy of NVTX"


def training_is_captured() -> str:
    """A step's ranges of three sources nest in time, and the allocator's counter is beside them."""
    trace, printed = captured(_MODEL + _TRAINING)
    steps = [row for row in _of(trace, "trainer") if str(row.name).startswith("step ")]
    inner = _named(trace, "forward and backward")
    assert len(steps) == len(inner) == STEPS, (len(steps), len(inner))
    modules = [row for row in _of(trace, "torch.nn,forward") if row.depth == 0]
    assert len(modules) == STEPS, modules
    for step, middle, module in zip(steps, inner, modules, strict=True):
        assert _holds(step, middle) and _holds(middle, module), (step, middle, module)  # noqa: PT018
    names = {sample.track.path[-1] for sample in trace.counters}
    assert "cuda:0 allocator.allocated" in names, names
    allocated = [s for s in trace.counters if s.track.path[-1] == "cuda:0 allocator.allocated"]
    greatest = max(sample.value or 0.0 for sample in allocated)
    assert greatest == int(printed), (greatest, printed)
    return f"{STEPS} steps, {greatest / 2**20:.1f} MiB at most"


def _holds(outer: Slice, inner: Slice) -> bool:
    return outer.ts <= inner.ts and inner.ts + inner.dur <= outer.ts + outer.dur


def _of(trace: Trace, category: str) -> list[Slice]:
    return _sorted(row for row in trace.slices if row.category == category)


def _named(trace: Trace, name: str) -> list[Slice]:
    return _sorted(row for row in trace.slices if row.name == name)


def _sorted(rows: Iterable[Slice]) -> list[Slice]:
    return sorted(rows, key=lambda row: row.ts)
