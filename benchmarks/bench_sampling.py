# SPDX-License-Identifier: Apache-2.0
"""What does sampling cost, and how late are its ticks, with an idle and a busy main thread?"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import psutil  # type: ignore[import-untyped,unused-ignore]
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


def bare_timer(hertz: int) -> float:
    """Return the CPU share of a thread that only waits for the next tick, as `sleep` runs."""
    shares = []

    def wait() -> None:
        gate = threading.Lock()
        gate.acquire()
        began, due = time.thread_time_ns(), time.monotonic_ns()
        for _ in range(int(SECONDS * hertz)):
            due += 1_000_000_000 // hertz
            gate.acquire(timeout=max(0, due - time.monotonic_ns()) / 1e9)
        shares.append((time.thread_time_ns() - began) / 1e9 / SECONDS)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    return shares[0]


def print_costs() -> None:
    print("\nOne read, stamped and kept")
    print(f"{'':36} {'ns':>9}")
    for result in compare([ticks_of(p) for p in (ProcessMemory(), ProcessCpu(), ProcessObjects())]):
        print(f"{result.name:36} {1e9 / result.rate:9.0f}")
    for result in compare([peer()], rounds=3):
        print(f"{result.name:36} {1e9 / result.rate:9.0f}")


def print_schedule(title: str, main_thread: Callable[[], None], *, idle: bool) -> None:
    print(f"\n{title}")
    print(f"{'Hz':>6} {'of a core':>10} {'bare timer':>11} {'p50 late':>10} {'p99 late':>10} "
          f"{'latest':>10} {'missed':>7}")  # fmt: skip
    for hertz in (10, 100, 1000):
        report, share = sampled(hertz, main_thread)
        share = share if idle else report.cpu_share
        floor = f"{bare_timer(hertz):11.2%}" if idle else f"{'-':>11}"
        lane = min(report.lanes, key=lambda lane: lane.interval_s)
        p50, p99 = lane.lateness_quantile(0.5) / 1e3, lane.lateness_quantile(0.99) / 1e3
        print(f"{hertz:6} {share:10.2%} {floor} {p50:7.0f} us {p99:7.0f} us "
              f"{lane.latest_ns / 1e3:7.0f} us {lane.missed:7}")  # fmt: skip


def main() -> None:
    print_costs()
    print_schedule("Default CPU probes, main thread idle", sleep, idle=True)
    switch = sys.getswitchinterval() * 1e3
    title = f"The same beside a busy pure-Python main thread (switch interval {switch:g} ms)"
    print_schedule(title, compute, idle=False)


if __name__ == "__main__":
    main()
