# SPDX-License-Identifier: Apache-2.0
"""What does a live event cost, beside an injection that only reads the clock and counts?

Contenders are processes, as NVTX looks for a tool once in each. They take turns, and each number
is the median of several runs; costs of an event are CPU time of the thread that makes it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
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
print((time.thread_time_ns() - began) / {PYTHON_RANGES})
"""
_ONE_MARK = "import nvtx; nvtx.mark('one')"
_DYING = """
import os, sys, nvtx
domain = nvtx.get_domain("d")
event = domain.get_event_attributes(message="m")
for _ in range(int(sys.argv[1])):
    domain.push_range(event); domain.pop_range()
os._exit(0)
"""


@dataclass(frozen=True)
class Line:
    """One line of the table: the counting injection's number (if it has one), ours, and a goal."""

    question: str
    unit: str
    counting: float | None
    ours: float
    goal: str = ""

    def print(self) -> None:
        counting = "" if self.counting is None else f"{self.counting:.2f}"
        print(f"{self.question:52} {self.unit:>10} {counting:>10} {self.ours:10.2f}  {self.goal}")


class Bench:
    """Runs programs with one of two injections."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trace = folder / "live.pftrace"
        self.counting = program("count_ranges.c", "-shared", "-fPIC", f"-I{headers()}")
        self.driver = program("live_ranges.c", f"-I{headers()}", "-lpthread", "-ldl")

    def run(self, command: list[str | Path], injection: Path, config: str) -> list[float]:
        """The numbers that a program prints, and the seconds it took."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NVTX_")}
        environment["NVTX_INJECTION64_PATH"] = str(injection)
        environment["NVTX_PERFETTO_OUTPUT"] = str(self.trace)
        environment["NVTX_PERFETTO_CONFIG"] = config
        began = time.perf_counter()
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        return [*map(float, done.stdout.split()), time.perf_counter() - began]

    def both(self, command: list[str | Path]) -> tuple[list[float], list[float]]:
        """The medians of all numbers, with the counting injection and with ours."""
        rounds: tuple[list[list[float]], list[list[float]]] = ([], [])
        for _ in range(ROUNDS):
            rounds[0].append(self.run(command, self.counting, ""))
            rounds[1].append(self.run(command, nvtx_perfetto.library_path(), "overwrite=1"))
        counting, ours = (
            [statistics.median(one) for one in zip(*each, strict=True)] for each in rounds
        )
        return counting, ours

    def drain_rate(self, ranges: int) -> float:
        """Events a second that a recovery writes: a dead process's events, and nothing else."""
        self.trace.unlink(missing_ok=True)
        command: list[str | Path] = [sys.executable, "-c", _DYING, str(ranges)]
        self.run(command, nvtx_perfetto.library_path(), "parts=only")
        (part,) = self.folder.glob(f"{self.trace.name}.*.part")
        before = part.stat().st_size
        began = time.perf_counter()
        recover([Part(str(part.with_suffix("")))])
        seconds = time.perf_counter() - began
        after = part.stat().st_size
        part.unlink()
        return 2 * ranges * (after - before) / after / seconds


def _medians(rounds: list[list[float]]) -> list[float]:
    return [statistics.median(numbers) for numbers in zip(*rounds, strict=True)]


def live_lines(bench: Bench, ranges: int) -> list[Line]:
    """From C, at several numbers of threads: time and memory."""
    lines = []
    for threads in (1, 8, 64):
        counting, ours = bench.both(
            [bench.driver, str(threads), str(max(1_000, ranges // threads)), "0"]
        )
        label = f"{threads} threads" if threads > 1 else "1 thread"
        goal = "at most 60" if threads < 64 else ""
        lines += [
            Line(f"CPU of an event from C, {label}", "ns", counting[0], ours[0], goal),
            Line(f"of it in the system, {label}", "ns", counting[1], ours[1]),
            Line(f"page faults of 1000 events, {label}", "", counting[2], ours[2]),
            Line(f"memory of that process, {label}", "MB", counting[3] / 1024, ours[3] / 1024),
            Line(f"of it mapped from files, {label}", "MB", counting[4] / 1024, ours[4] / 1024),
        ]
        if threads == 1:
            lines += [
                Line("the first call and event", "ms", counting[5], ours[5]),
                Line("memory that they add", "MB", counting[6] / 1024, ours[6] / 1024),
            ]
    return lines


def other_lines(bench: Bench, ranges: int) -> list[Line]:
    """Through Python, whole processes, and files."""
    counting, ours = bench.both([sys.executable, "-c", _PYTHON])
    ratio = f"{ours[0] / counting[0]:.2f}x; at most 1.5x"
    question = "push and pop through nvtx, prebuilt attributes"
    lines = [Line(question, "ns", counting[0], ours[0], ratio)]
    counting, ours = bench.both([sys.executable, "-c", _ONE_MARK])
    lines.append(Line("a Python process with one mark", "ms", counting[0] * 1e3, ours[0] * 1e3))
    for colored, question, goal in (("0", "an event in the file", 16), ("1", "with color", 20)):
        bench.run(
            [bench.driver, "1", str(ranges), colored], nvtx_perfetto.library_path(), "overwrite=1"
        )
        size = bench.trace.stat().st_size / (2 * ranges)
        lines.append(Line(question, "bytes", None, size, f"at most {goal}"))
    rate = statistics.median(bench.drain_rate(ranges) for _ in range(ROUNDS))
    lines.append(Line("drain of a dead process's events", "M/s", None, rate / 1e6))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranges", type=int, default=RANGES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name))
        head = f"medians of {ROUNDS} runs"
        print(f"{head:52} {'unit':>10} {'counting':>10} {'ours':>10}")
        for line in live_lines(bench, options.ranges) + other_lines(bench, options.ranges):
            line.print()


if __name__ == "__main__":
    main()
