# SPDX-License-Identifier: Apache-2.0
"""The README's demo: what was captured live and what was replayed line up in one trace."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support import Slice, Trace
from support.live import clean_environment

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "demo.py"
STEPS = 8


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the demo has written."""
    folder: Path = tmp_path_factory.mktemp("demo")
    command = [sys.executable, str(SCRIPT), "--folder", str(folder)]
    done = subprocess.run(
        command,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def named(trace: Trace, name: str, category: str) -> list[Slice]:
    found = [row for row in trace.slices if row.name == name and row.category == category]
    return sorted(found, key=lambda row: row.ts)


def test_all_sources_are_in_the_joined_trace(demo: Path, load: Callable[[Path], Trace]) -> None:
    trace = load(demo / "demo.pftrace")
    assert trace.problems == {}
    categories = Counter(row.category for row in trace.slices)
    warm_up, parts = 1, 4  # a step, and forward, backward and optimizer inside
    assert categories["trainer"] == warm_up + parts * (STEPS + warm_up)
    assert categories["torch.nn,forward"] == categories["torch.nn,backward"] > STEPS
    assert categories["server"] == 40
    assert sum(row.name == f"batch {STEPS - 1} waits" for row in trace.slices) == 1
    series = {path[-1]: values for path, values in trace.series().items()}
    assert len(series["in_flight"]) == 80
    assert len(series["loss"]) == STEPS + warm_up
    assert min(value or 0.0 for _, value in series["process memory.rss"]) > 1 << 20


def test_the_profilers_events_lie_inside_the_live_ranges_around_them(
    demo: Path, load: Callable[[Path], Trace]
) -> None:
    trace = load(demo / "demo.pftrace")
    outer = named(trace, "optimizer", "trainer")[1:]  # the warm-up was not profiled
    inner = [row for row in trace.slices if str(row.name).startswith("Optimizer.step#")]
    inner.sort(key=lambda row: row.ts)
    assert len(outer) == len(inner) == STEPS
    outside = [
        (around.ts, within.ts)
        for around, within in zip(outer, inner, strict=True)
        if not around.ts <= within.ts <= within.ts + within.dur <= around.ts + around.dur
    ]
    assert outside == []
