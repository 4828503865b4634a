# SPDX-License-Identifier: Apache-2.0
"""Timing that survives a busy machine: contenders take turns, and medians are compared.

A machine's speed drifts, so absolute numbers of two runs say little. Every contender does the same
work in every round, the order rotates, and what is reported first is the ratio within the run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """Seconds of each round of one contender, and what the work left behind."""

    name: str
    rows: int
    seconds: list[float]
    size: int

    @property
    def median(self) -> float:
        """Median seconds of a round."""
        return statistics.median(self.seconds)

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / self.median


@dataclass(frozen=True)
class Contender:
    """Something that writes `rows` rows when called, and says how many bytes came of it."""

    name: str
    rows: int
    work: Callable[[], int]


def compare(contenders: list[Contender], rounds: int = 7) -> list[Result]:
    """Let contenders take turns, after one round that warms up and is not counted."""
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    sizes: dict[str, int] = {}
    for turn in range(rounds + 1):
        first = turn % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            began = time.perf_counter()
            sizes[contender.name] = contender.work()
            if turn:
                seconds[contender.name].append(time.perf_counter() - began)
    return [
        Result(each.name, each.rows, seconds[each.name], sizes[each.name]) for each in contenders
    ]


def report(question: str, results: list[Result]) -> None:
    """Print one line a contender; the first is what the others are compared with."""
    base = results[0]
    print(f"\n{question}")
    print(f"{'':36} {'M rows/s':>9} {'ns a row':>9} {'bytes':>7} {'time':>8}  of {base.name}")
    for result in results:
        ratio = (result.median / result.rows) / (base.median / base.rows)
        print(
            f"{result.name:36} {result.rate / 1e6:9.2f} {1e9 / result.rate:9.1f} "
            f"{result.size / result.rows:7.1f} {ratio:7.2f}x"
        )
