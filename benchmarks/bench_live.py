# SPDX-License-Identifier: Apache-2.0
"""What does a live event cost, beside an injection that only reads the clock and counts?

Each number is the lowest of several runs, since a busy machine spoils most of them. Contenders
are processes, as NVTX looks for a tool once in each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nvtx_perfetto
from compiled import headers, program
from nvtx_perfetto.parts import Part, recover

ROUNDS = 7
RANGES = 400_000
PYTHON_RANGES = 200_000

_PYTHON = f"""
import time, nvtx
domain = nvtx.get_domain("bench")
event = domain.get_event_attributes(message="step")
push, pop = domain.push_range, domain.pop_range
push(event); pop()
began = time.thread_time_ns()
for _ in range({PYTHON_RANGES}):
    push(event); pop()
print((time.thread_time_ns() - began) / {PYTHON_RANGES}, 0)
"""
_NOTHING = "import nvtx; nvtx.mark('one')"


class Bench:
    """Runs programs with one of two injections."""

    def __init__(self, folder: Path) -> None:
        self.trace = folder / "live.pftrace"
        self.counting = program("count_ranges.c", "-shared", "-fPIC", f"-I{headers()}")
        self.driver = program("live_ranges.c", f"-I{headers()}", "-lpthread", "-ldl")

    def run(self, command: list[str | Path], injection: Path | None) -> tuple[float, float, float]:
        """The two numbers that a program prints, and its seconds."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVTX_")}
        if injection is not None:
            environment["NVTX_INJECTION64_PATH"] = str(injection)
        environment["NVTX_PERFETTO_OUTPUT"] = str(self.trace)
        environment["NVTX_PERFETTO_CONFIG"] = "overwrite=1"
        began = time.perf_counter()
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - began
        first, second = [*done.stdout.split(), "0", "0"][:2]
        return float(first), float(second), seconds

    def lowest(self, command: list[str | Path], which: int = 0) -> tuple[float, float]:
        """The lowest of one number, with the counting injection and with ours."""
        rounds = [
            (self.run(command, self.counting), self.run(command, nvtx_perfetto.library_path()))
            for _ in range(ROUNDS)
        ]
        return min(one[which] for one, _ in rounds), min(two[which] for _, two in rounds)

    def size(self, command: list[str | Path]) -> int:
        """Bytes of the trace of one run."""
        self.run(command, nvtx_perfetto.library_path())
        return self.trace.stat().st_size


def bench_c(bench: Bench, ranges: int) -> None:
    print("\nFrom C, nanoseconds of CPU an event (at most 60 wanted):")
    for threads in (1, 8):
        command: list[str | Path] = [bench.driver, str(threads), str(ranges // threads), "0"]
        counting, ours = bench.lowest(command)
        print(f"  {threads} threads: {ours:6.1f}, counting injection {counting:6.1f}")


def bench_python(bench: Bench) -> None:
    counting, ours = bench.lowest([sys.executable, "-c", _PYTHON])
    print("\nThrough nvtx with prebuilt attributes, nanoseconds a push and pop:")
    print(f"  {ours:6.1f}, counting injection {counting:6.1f}: {ours / counting:.2f}x", end="")
    print(" (at most 1.5 wanted)")


def bench_size(bench: Bench, ranges: int) -> None:
    print("\nBytes an event in the file (at most 16 wanted, 20 with color):")
    for colored, name in (("0", "plain"), ("1", "with color")):
        size = bench.size([bench.driver, "1", str(ranges), colored])
        print(f"  {name:12} {size / (2 * ranges):5.1f}")


def bench_memory(bench: Bench) -> None:
    print("\nMemory of a process, MB (RSS beyond that with the counting injection):")
    for threads in (1, 8, 64):
        counting, ours = bench.lowest([bench.driver, str(threads), "20000", "0"], which=1)
        print(f"  {threads:2} threads: {(ours - counting) / 1024:6.1f}")


def bench_start(bench: Bench) -> None:
    counting, ours = bench.lowest([sys.executable, "-c", _NOTHING], which=2)
    print("\nA Python process with one mark, milliseconds from start to end:")
    print(f"  {ours * 1e3:.1f}, counting injection {counting * 1e3:.1f}")


def bench_drain(bench: Bench, folder: Path, ranges: int) -> None:
    """A process that dies leaves its events in memory; a recovery is a drain and no more."""
    code = "import os, nvtx\nd = nvtx.get_domain('d')\ne = d.get_event_attributes(message='m')\n"
    code += f"for _ in range({ranges}): d.push_range(e); d.pop_range()\nos._exit(0)"
    best = 0.0
    for turn in range(ROUNDS):
        output = folder / f"drain{turn}.pftrace"
        environment = {
            **os.environ,
            "NVTX_INJECTION64_PATH": str(nvtx_perfetto.library_path()),
            "NVTX_PERFETTO_OUTPUT": str(output),
            "NVTX_PERFETTO_CONFIG": "parts=only",
        }
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        (part,) = folder.glob(f"{output.name}.*.part")
        before = part.stat().st_size
        began = time.perf_counter()
        recover([Part(str(part.with_suffix("")))])
        seconds = time.perf_counter() - began
        best = max(best, (part.stat().st_size - before) / seconds)
    print(f"\nDrain: {best / 1e6:.0f} MB/s, about {best / 13 / 1e6:.1f} M events/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranges", type=int, default=RANGES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(folder)
        bench_c(bench, options.ranges)
        bench_python(bench)
        bench_size(bench, options.ranges)
        bench_memory(bench)
        bench_start(bench)
        bench_drain(bench, folder, options.ranges)


if __name__ == "__main__":
    main()
