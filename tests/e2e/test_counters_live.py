# SPDX-License-Identifier: Apache-2.0
"""Counters sampled in a program come back from its live recording as the program's log has them.

The programs log what every read of a probe returned, and real time before and after it, by
themselves. A gap is logged once, however many reads it lasts: so it is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import Trace
from support.live import record_script

Load = Callable[[Path], Trace]

LOGGING = """
import json, os, threading, time
import numpy as np, nvtx_schema as nvs
from nvtx_torch_counters import (
    CounterSampler, FunctionProbe, ProcessCpu, ProcessMemory, ProcessObjects, Unavailable)
log = {}
def logged(probe, name=None):
    rows, read = log.setdefault(name or probe.name, []), probe.read
    def read_and_log():
        row, before = None, time.time_ns()
        try:
            row = read()
        finally:
            if row is not None or not rows or rows[-1][2] is not None:
                rows.append([before, time.time_ns(), row and list(row)])
        return row
    probe.read = read_and_log
    return probe
def leave(*samplers):
    kept, tie = {}, max(sampler.report().clock_error_ns for sampler in samplers)
    for group in [each.samples(name) for each in samplers for name in each.names]:
        kept[group.name] = {
            "fields": group.schema.names, "reads": log[group.name], "time": group.time.tolist(),
            "error": (group.error + tie).tolist(), "gap": group.gap}
    json.dump({"pid": os.getpid(), "groups": kept}, open("log.json", "w"))
"""


def logged_values(groups: dict[str, Any]) -> dict[str, list[Any]]:
    """What the reads returned, by counter track."""
    return {
        f"{name}.{field}": [row and row[at] for _, _, row in group["reads"]]
        for name, group in groups.items()
        for at, field in enumerate(group["fields"])
    }


def misplaced(groups: dict[str, Any], series: dict[str, list[Any]]) -> list[object]:
    """Rows of the trace whose time is not the sampler's, or of which that bound is not true."""
    wrong: list[object] = []
    for name, group in groups.items():
        nexts = [before for before, _, _ in group["reads"][1:]] + [1 << 63]
        for field in group["fields"]:
            stamps = [ts for ts, _ in series[f"{name}.{field}"]]
            columns = (stamps, group["time"], group["error"], group["reads"], nexts)
            for ts, kept, error, (before, after, row), following in zip(*columns, strict=True):
                if row is None:  # a gap bears the recorder's stamp, once the read has ended
                    fits = after <= ts <= following
                else:
                    fits = ts == kept and ts - error <= before <= after <= ts + error
                if not fits:
                    wrong.append((name, field, ts, kept, error, before, after))
    return wrong


BACKGROUND = """
waiting = nvs.value(np.int32, unit="batches", max=64)
full = nvs.value(np.float64, unit="percent", min=0.0, max=100.0)
reads, ended = iter(range(1_000_000)), threading.Event()
def queue():
    read = next(reads)
    if 5 <= read < 9:
        raise Unavailable("the loader sleeps")
    if read == 20:
        ended.set()
        raise OSError("the loader is gone")
    return read * 3, None if read == 12 else read / 3
cpu, objects = ProcessCpu(), ProcessObjects()
cpu.interval = objects.interval = 0.003
loader = FunctionProbe("loader", {"waiting": waiting, "full": full}, queue)
probes = [ProcessMemory(), cpu, objects, loader]
with CounterSampler([logged(probe) for probe in probes], interval=0.001) as sampler:
    assert ended.wait(60)
    kept = np.ones(16 << 20, np.uint8)
leave(sampler)
"""


@pytest.fixture(scope="module")
def background(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of the program above, with its log beside it."""
    return record_script(tmp_path_factory.mktemp("background"), LOGGING + BACKGROUND)


def test_counters_sampled_in_the_background_equal_the_programs_log(
    background: Path, load: Load
) -> None:
    trace = load(background)
    state = json.loads(background.with_name("log.json").read_text())
    series = {path[-1]: rows for path, rows in trace.series().items()}
    found = {name: [value for _, value in rows] for name, rows in series.items()}
    assert found == logged_values(state["groups"])
    assert misplaced(state["groups"], series) == []
    tracks = {sample.track.name: sample.track for sample in trace.counters}
    units = {name: track.unit for name, track in tracks.items()}
    assert units == {
        "process memory.rss": "bytes",
        "process memory.shared": "bytes",
        "process cpu.percent": "percent",
        "process cpu.cores": "cores",
        "process objects.threads": None,
        "process objects.files": None,
        "loader.waiting": "batches",
        "loader.full": "percent",
    }
    described = {name: str(track.description).partition(";")[0] for name, track in tracks.items()}
    assert described["process memory.rss"] == "limits: min 0"
    assert described["loader.waiting"] == "limits: max 64"
    assert described["loader.full"] == "limits: min 0, max 100"
    assert {(t.process and t.process[0], t.path[:-1]) for t in tracks.values()} == {
        (state["pid"], ())
    }
    assert trace.problems == {}


def test_an_absent_value_is_a_gap_with_its_reason_and_a_failed_probe_ends(
    background: Path, load: Load
) -> None:
    trace = load(background)
    loader = json.loads(background.with_name("log.json").read_text())["groups"]["loader"]
    series = {path[-1]: [v for _, v in rows] for path, rows in trace.series().items()}
    said = [*range(5), *range(9, 20)]
    waiting: list[float | None] = [3.0 * read for read in said]
    full = [None if read == 12 else read / 3 for read in said]
    assert series["loader.waiting"] == [*waiting[:5], None, *waiting[5:], None]
    assert series["loader.full"] == [*full[:5], None, *full[5:], None]
    reasons = [why for why in loader["gap"] if why]
    assert reasons == ["the loader sleeps", "stopped: OSError: the loader is gone"]


STEPS = """
def counting(start):
    values = iter(range(start, start + 100))
    return FunctionProbe("p", {"n": nvs.value(np.uint64, min=1)}, lambda: (next(values),))
first = CounterSampler([logged(counting(1))])
memory = logged(ProcessMemory(), "process memory#2")
second = CounterSampler([logged(counting(1001), "p#2"), memory])
around = {"p": [], "p#2": []}
for name, sampler, steps in (("p", first, 3), ("p#2", second, 2), ("p", first, 2)):
    for _ in range(steps):
        before = time.time_ns()
        sampler.step()
        around[name].append([before, time.time_ns()])
threads = threading.active_count()
second.stop(), first.stop()
leave(first, second)
json.dump({"threads": threads, "around": around}, open("steps.json", "w"))
"""


def test_steps_of_two_samplers_lie_inside_the_calls_and_are_told_apart(
    tmp_path: Path, load: Load
) -> None:
    trace = load(record_script(tmp_path, LOGGING + STEPS))
    steps = json.loads((tmp_path / "steps.json").read_text())
    assert steps["threads"] == 1
    series = {path[-1]: rows for path, rows in trace.series().items()}
    assert [value for _, value in series["p.n"]] == [1, 2, 3, 4, 5, 6]
    assert [value for _, value in series["p#2.n"]] == [1001, 1002, 1003]
    assert set(series) == {"p.n", "p#2.n", "process memory#2.rss", "process memory#2.shared"}
    outside = [
        (name, ts, before, after)
        for name, calls in steps["around"].items()
        for (ts, _), (before, after) in zip(series[f"{name}.n"], calls, strict=False)  # and stop's
        if not before <= ts <= after
    ]
    assert outside == []
    groups = json.loads((tmp_path / "log.json").read_text())["groups"]
    found = {name: [value for _, value in rows] for name, rows in series.items()}
    assert found == logged_values(groups)
    assert misplaced(groups, series) == []
