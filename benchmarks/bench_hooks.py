# SPDX-License-Identifier: Apache-2.0
"""What do ranges around every module cost, with a tool that only counts and with none?"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from compiled import headers, program
from module_hooks import empty_pair, full_backward, named_set

BLOCKS = 16
SIZE = 8
LONG_RUN = 1_000_000
FORWARD_TURNS = 3000
STEP_TURNS = 600


class Block(torch.nn.Module):
    """A gated layer: five modules, each called once."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(SIZE)
        self.up, self.gate, self.down = (torch.nn.Linear(SIZE, SIZE) for _ in range(3))
        self.act = torch.nn.SiLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        return x + self.down(self.act(self.gate(y)) * self.up(y))  # type: ignore[no-any-return]


def build(hook: Any) -> torch.nn.Module:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Block() for _ in range(BLOCKS)))
    return hook(model) if hook else model


def ours(model: torch.nn.Module) -> torch.nn.Module:
    import nvtx_hooks

    return nvtx_hooks.patch(model)


HOOKS = {
    "bare": None,
    "empty hook pair": empty_pair,
    "nvtx-hooks": ours,
    "full backward hooks, empty": full_backward,
    "named set, four hooks": named_set,
}


def measure(question: str, turns: int, *, train: bool) -> dict[str, float]:
    """Print, and give, the nanoseconds a module call that each way adds to the bare model.

    Each turn is one short run of each model, and the quickest of many turns counts: a busy machine
    spoils most long runs, but leaves some short ones alone.
    """
    x = torch.randn(4, SIZE)
    models = {name: build(hook) for name, hook in HOOKS.items()}
    best = dict.fromkeys(models, float("inf"))
    with torch.set_grad_enabled(train):
        for _ in range(turns):
            for name, model in models.items():
                began = time.perf_counter()
                output = model(x)
                if train:
                    output.sum().backward()
                best[name] = min(best[name], time.perf_counter() - began)
    calls = len(list(models["bare"].modules()))
    added = {name: (seconds - best["bare"]) / calls * 1e9 for name, seconds in best.items()}
    bare = best["bare"] / calls * 1e9
    print(f"\n{question}: nanoseconds added to a module call, which takes {bare:.0f} bare")
    for name, cost in added.items():
        print(f"  {name:28} {cost:9.0f} {cost / added['empty hook pair']:7.2f}x empty hook pair")
    return added


def measure_costs() -> None:
    forward = measure("Forward without gradients", FORWARD_TURNS, train=False)
    step = measure("Forward and backward", STEP_TURNS, train=True)
    ratio = forward["nvtx-hooks"] / forward["empty hook pair"]
    print(f"\nforward: {ratio:.2f}x the empty hook pair (at most 1.4 wanted)")
    ratio = step["named set, four hooks"] / step["nvtx-hooks"]
    print(f"step: 1/{ratio:.1f} of the named set's (at most 1/5 wanted)")


def measure_memory(steps: int) -> None:
    """Print the resident set after 1 % and after all of many steps of a patched model."""
    model = ours(torch.nn.Linear(1, 1))  # small, so that a million steps take minutes
    x = torch.ones(1, 1)
    for step in range(1, steps + 1):
        model(x).sum().backward()
        model.zero_grad()
        if step in (steps // 100, steps):
            print(f"  RSS after {step:>9,} steps: {_resident() / 1e6:.1f} MB", flush=True)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure_absence() -> None:
    """Fail if patching leaves anything where no tool is attached; print what a call then costs."""
    import nvtx_hooks

    model, x = build(None), torch.randn(4, SIZE)
    before = [_contents(module) for module in model.modules()]
    nvtx_hooks.patch(model)
    assert [_contents(module) for module in model.modules()] == before
    assert not nvtx_hooks.is_patched(model)
    models = {"bare": build(None), "patched": model}
    best = dict.fromkeys(models, float("inf"))
    with torch.no_grad():
        for _ in range(FORWARD_TURNS):
            for name, each in models.items():
                began = time.perf_counter()
                each(x)
                best[name] = min(best[name], time.perf_counter() - began)
    print(
        f"\nwithout a tool: no hook, forward {best['patched'] / best['bare']:.3f}x the bare model's"
    )


def _contents(module: torch.nn.Module) -> dict[str, Any]:
    return {key: list(v) if isinstance(v, dict) else v for key, v in vars(module).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=LONG_RUN)
    parser.add_argument("--part", choices=["costs", "memory", "absence"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    # What it says once a process about modules whose inputs need no gradient.
    warnings.filterwarnings("ignore", "Full backward hook is firing")
    if options.part == "costs":
        measure_costs()
    elif options.part == "memory":
        measure_memory(options.steps)
    elif options.part == "absence":
        measure_absence()
    else:
        _run_parts(options.steps)


def _run_parts(steps: int) -> None:
    """NVTX looks for a tool once a process, so each part has one of its own."""
    injection = program("count_ranges.c", "-shared", "-fPIC", f"-I{headers()}")
    attached = {**os.environ, "NVTX_INJECTION64_PATH": str(injection)}
    bare = {key: os.environ[key] for key in os.environ if key != "NVTX_INJECTION64_PATH"}
    for part, environment in (("costs", attached), ("memory", attached), ("absence", bare)):
        if part == "memory":
            print(f"\nMemory of {steps:,} steps of a patched model")
        command = [sys.executable, __file__, "--part", part, "--steps", str(steps)]
        subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    main()
