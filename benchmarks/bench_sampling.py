# SPDX-License-Identifier: Apache-2.0
"""What does sampling cost, and how late are its ticks, with an idle and a busy main thread?"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import psutil  # type: ignore[import-untyped,unused-ignore]
from compiled import program
from measuring import Contender, compare
from nvtx_torch_counters import (
    CounterSampler,
    Probe,
    ProcessCpu,
    ProcessMemory,
    ProcessObjects,
    Report,
)

READS = 5_000
SECONDS = 5.0
RATES = (10, 100, 1000)
_COLUMNS = f"{'p50 late':>10} {'p99 late':>10} {'latest':>10} {'missed':>7}"
HEADER = f"{'':14} {'Hz':>6} {'of a core':>10} {_COLUMNS}"


def ticks_of(probe: Probe) -> Contender:
    """Return the work of a sampler's tick of one probe: read, stamp, keep."""
    sampler = CounterSampler([probe], domain=None)
    sampler.step()

    def work() -> int:
        for _ in range(READS):
            sampler.step()
        return 0

    return Contender(f"sampler, {probe.name}", READS, work)


def peer() -> Contender:
    """Return the same three things read the usual way, kept in a list with one time stamp."""
    process = psutil.Process()
    process.cpu_percent()

    def work() -> int:
        rows = []
        for _ in range(READS):
            memory, cpu = process.memory_info().rss, process.cpu_percent()
            rows.append((time.time(), memory, cpu, process.num_threads()))
        return 0

    return Contender("psutil: RSS, CPU, threads", READS, work)


def sleep() -> None:
    """Leave the interpreter to the sampler."""
    time.sleep(SECONDS)


def compute() -> None:
    """Keep the interpreter busy with pure Python, as a data loader in the main thread would."""
    until = time.monotonic() + SECONDS
    number = 0
    while time.monotonic() < until:
        for _ in range(1_000):
            number = (number * 31 + 7) % 1_000_003


def sampled(hertz: int, main_thread: Callable[[], None]) -> tuple[Report, float]:
    """Run the default CPU probes beside `main_thread`; return the report and process CPU share."""
    probes: list[Probe] = [ProcessMemory(), ProcessCpu(), ProcessObjects()]
    with CounterSampler(probes, interval=1 / hertz, domain=None) as sampler:
        wall, cpu = time.monotonic(), time.process_time()
        main_thread()
        share = (time.process_time() - cpu) / (time.monotonic() - wall)
    return sampler.report(), share


@dataclass(frozen=True)
class Timer:
    """What a thread that only waits for its ticks cost as a share of a core, and its lateness."""

    share: float
    late_ns: npt.NDArray[np.int64]


def c_timer(hertz: int) -> Timer:
    """Wait in C, without the interpreter: less than this, no thread that wakes up costs here."""
    loop = ctypes.CDLL(str(program("timer_loop.c", "-shared", "-fPIC"))).wait_for_ticks
    loop.argtypes = (ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    loop.restype = ctypes.c_int64
    late = np.zeros(int(SECONDS * hertz), np.int64)
    used = loop(1_000_000_000 // hertz, len(late), late.ctypes.data)
    return Timer(used / 1e9 / SECONDS, late)


def python_timer(hertz: int) -> Timer:
    """Wait in Python, and do nothing else."""
    late = np.zeros(int(SECONDS * hertz), np.int64)
    began, due = time.thread_time_ns(), time.monotonic_ns()
    for tick in range(len(late)):
        due += 1_000_000_000 // hertz
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        late[tick] = time.monotonic_ns() - due
    return Timer((time.thread_time_ns() - began) / 1e9 / SECONDS, late)


def print_costs() -> None:
    print("\nOne read, stamped and kept")
    print(f"{'':36} {'ns':>9}")
    for result in compare([ticks_of(p) for p in (ProcessMemory(), ProcessCpu(), ProcessObjects())]):
        print(f"{result.name:36} {1e9 / result.rate:9.0f}")
    for result in compare([peer()], rounds=3):
        print(f"{result.name:36} {1e9 / result.rate:9.0f}")


def print_schedule(title: str, main_thread: Callable[[], None]) -> None:
    print(f"\n{title}")
    print(HEADER)
    for hertz in RATES:
        report, share = sampled(hertz, main_thread)
        lane = min(report.lanes, key=lambda lane: lane.interval_s)
        late = (lane.lateness_quantile(0.5), lane.lateness_quantile(0.99), lane.latest_ns)
        if main_thread is compute:  # whose CPU time is not the sampler's
            share = report.cpu_share
        print_line("sampler", hertz, share, late, lane.missed)
        if main_thread is sleep:
            for name, timer in (("C timer", c_timer(hertz)), ("Python timer", python_timer(hertz))):
                p50, p99, latest = np.quantile(timer.late_ns, (0.5, 0.99, 1.0))
                print_line(name, hertz, timer.share, (p50, p99, latest), None)


def print_line(
    name: str, hertz: int, share: float, late_ns: tuple[float, float, float], missed: int | None
) -> None:
    late = " ".join(f"{ns / 1e3:7.0f} us" for ns in late_ns)
    print(f"{name:14} {hertz:6} {share:10.2%} {late} {'-' if missed is None else missed:>7}")


def main() -> None:
    print_costs()
    title = "Default CPU probes, main thread idle; and threads that only wait for their ticks"
    print_schedule(title, sleep)
    switch = sys.getswitchinterval() * 1e3
    title = f"The same beside a busy pure-Python main thread (switch interval {switch:g} ms)"
    print_schedule(title, compute)


if __name__ == "__main__":
    main()
