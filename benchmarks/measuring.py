# SPDX-License-Identifier: Apache-2.0
"""Timing that survives a busy machine: contenders take turns, and medians are compared.

A machine's speed drifts, so absolute numbers of two runs say little. Every contender does the same
work in every round, the order rotates, and the ratio within the run is what counts. Beside the time
by the clock stands the CPU time of all threads, which others on the machine disturb less.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """Seconds of each round of one contender, by clock and of CPU, and the bytes it left."""

    name: str
    rows: int
    seconds: list[float]
    cpu_seconds: list[float]
    size: int

    @property
    def median(self) -> float:
        """Median seconds of a round."""
        return statistics.median(self.seconds)

    def times_of(self, base: Result) -> float:
        """How many times as long a row took as the base's: the median of the rounds' own ratios.

        A round's contenders run within moments of each other, so that a machine whose speed
        drifts from round to round changes both.
        """
        rounds = zip(self.seconds, base.seconds, strict=True)
        return statistics.median(own / other for own, other in rounds) * base.rows / self.rows

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / self.median

    @property
    def cpu_median(self) -> float:
        """Median seconds of CPU of a round."""
        return statistics.median(self.cpu_seconds)


class Stopwatch:
    """Times the block it is entered for, where only a part of the work is in question."""

    def __enter__(self) -> None:
        self._began, self._cpu_began = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._began
        self.cpu_seconds = time.process_time() - self._cpu_began


@dataclass(frozen=True)
class Contender:
    """Something that writes `rows` rows when called, and says how many bytes came of it.

    With a watch, what the work times with it counts; otherwise all of the work does.
    """

    name: str
    rows: int
    work: Callable[[], int]
    watch: Stopwatch | None = None


def compare(contenders: list[Contender], rounds: int = 7) -> list[Result]:
    """Let contenders take turns, after one round that warms up and is not counted."""
    clock: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    cpu: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    sizes: dict[str, int] = {}
    for turn in range(rounds + 1):
        first = turn % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            whole = Stopwatch()
            with whole:
                sizes[contender.name] = contender.work()
            watch = contender.watch or whole
            if turn:
                clock[contender.name].append(watch.seconds)
                cpu[contender.name].append(watch.cpu_seconds)
    return [
        Result(each.name, each.rows, clock[each.name], cpu[each.name], sizes[each.name])
        for each in contenders
    ]


def report(question: str, results: list[Result]) -> None:
    """Print one line a contender; the first is what the others are compared with."""
    base = results[0]
    print(f"\n{question}")
    print(f"{'':36} {'M rows/s':>9} {'ns a row':>9} {'CPU ns':>9} {'bytes':>6}  time of the first")
    for result in results:
        row, cpu_row = result.median / result.rows, result.cpu_median / result.rows
        print(
            f"{result.name:36} {1e-6 / row:9.2f} {row * 1e9:9.1f} {cpu_row * 1e9:9.1f} "
            f"{result.size / result.rows:6.1f} {result.times_of(base):7.2f}x"
        )
