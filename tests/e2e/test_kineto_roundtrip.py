# SPDX-License-Identifier: Apache-2.0
"""A real profiler trace, converted, is what the real trace processor reads back.

What is expected is worked out from the JSON by plain Python with exact decimals, and compared as
whole sets of rows.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner, Result
from nvtx_replay.cli import main
from support import Trace, TraceProcessor
from support.rows import Slice

STEPS = 60
PAYLOAD = "payload."


def train(steps: int) -> None:
    """Train a small model with its loader, forward, backward and optimizer annotated."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8), torch.nn.Dropout(0.1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        with torch.profiler.record_function(f"step {step}"):
            batch, labels = torch.randn(16, 32), torch.randint(0, 8, (16,))
            with torch.profiler.record_function("forward"):
                loss = torch.nn.functional.cross_entropy(model(batch), labels)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()


class Expected:
    """What a Kineto JSON file says, row by row."""

    def __init__(self, path: Path) -> None:
        document = json.loads(path.read_text(), parse_float=Decimal)
        self.base = int(document["baseTimeNanoseconds"])
        self.events: list[dict[str, Any]] = document["traceEvents"]
        self.ranges = [event for event in self.events if event["ph"] == "X"]

    def rows(self) -> Counter[Any]:
        """Every range as (process, thread, name, begin, duration, arguments)."""
        return Counter(
            (
                str(event["pid"]),
                str(event["tid"]),
                event["name"],
                *span(event),
                arguments(event.get("args", {})),
            )
            for event in self.ranges
        )

    def flows(self) -> Counter[Any]:
        """Every arrow as (from name, begin, to name, begin), by the innermost operator."""
        rows: dict[Any, list[Any]] = defaultdict(list)
        for event in self.ranges:
            if event["cat"] != "python_function":
                begin, length = span(event)
                rows[event["pid"], event["tid"]].append((begin, -length, event["name"]))
        for row in rows.values():
            row.sort()
        ends: dict[Any, dict[str, Any]] = defaultdict(dict)
        for event in self.events:
            if event["ph"] in "sf":
                place = enclosing(rows[event["pid"], event["tid"]], exact_ns(event["ts"]))
                ends[event["cat"], event["id"]][event["ph"]] = place
        return Counter((*pair["s"], *pair["f"]) for pair in ends.values())

    def counters(self) -> dict[str, list[tuple[int, float]]]:
        """Memory totals by series, in the order of time."""
        found: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for event in self.events:
            if event["name"] == "[memory]":
                for key in ("Allocated", "Reserved"):
                    sample = exact_ns(event["ts"]), float(event["args"][f"Total {key}"])
                    found[f"memory cpu.{key.lower()}"].append(sample)
        return {name: sorted(series, key=lambda s: s[0]) for name, series in found.items()}


def exact_ns(microseconds: Any) -> int:
    """Whole nanoseconds; fails if the profiler wrote finer ones."""
    exact = Decimal(microseconds) * 1000
    assert exact == int(exact)
    return int(exact)


def span(event: dict[str, Any]) -> tuple[int, int]:
    return exact_ns(event["ts"]), exact_ns(event["dur"])


def enclosing(row: list[tuple[int, int, str]], time: int) -> tuple[str, int]:
    """The innermost range around a time in a row that is sorted by begin and nests."""
    at = bisect_right(row, (time, 1, ""))
    while row[at - 1][0] - row[at - 1][1] <= time:
        at -= 1
    return row[at - 1][2], row[at - 1][0]


def arguments(args: dict[str, Any]) -> str:
    """Arguments as one text; what travels as JSON text is compared as the value it stands for."""
    plain = {key: value for key, value in args.items() if value is not None}
    return json.dumps(plain, sort_keys=True, default=float)


def read_arguments(row: Slice, expected_kinds: dict[str, set[type]]) -> str:
    args: dict[str, Any] = {}
    for key, value in row.args.items():
        if not key.startswith(PAYLOAD):
            continue
        name = key.removeprefix(PAYLOAD)
        kinds = expected_kinds[name]
        args[name] = json.loads(str(value)) if kinds & {list, dict, bool} else value
    return json.dumps(args, sort_keys=True)


@pytest.fixture(scope="module")
def kineto(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profiler's JSON of a training."""
    path = tmp_path_factory.mktemp("kineto") / "train.json"
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(
        activities=activities, with_stack=True, record_shapes=True, profile_memory=True
    ) as profiler:
        train(STEPS)
    profiler.export_chrome_trace(str(path))
    return path


@pytest.fixture(scope="module")
def expected(kineto: Path) -> Expected:
    return Expected(kineto)


@pytest.fixture(scope="module")
def converted(kineto: Path) -> tuple[Path, Result]:
    output = kineto.with_suffix(".pftrace")
    return output, CliRunner().invoke(main, ["convert", str(kineto), "-o", str(output), "--json"])


@pytest.fixture(scope="module")
def trace(converted: tuple[Path, Result], processor: TraceProcessor) -> Trace:
    """The converted trace; its rows are read here, before another test loads another trace."""
    loaded = Trace(processor, converted[0])
    assert loaded.slices
    assert loaded.flows
    assert loaded.counters
    return loaded


def ranges(trace: Trace) -> list[Slice]:
    """Ranges of the import: not its instants, and not the backend's summary."""
    instants = {"[memory]", "Iteration Start: PyTorch Profiler", "Record Window End"}
    return [row for row in trace.slices if row.category and row.name not in instants]


def ids(row: Slice) -> tuple[str, str]:
    """The process and thread of a row: the engine's ids, or names where the ids were texts."""
    track = row.track
    process = str(track.process[0]) if track.process else track.path[-3]
    return process, str(track.thread[0]) if track.thread else track.path[-2]


def test_the_conversion_loses_and_repairs_nothing(converted: tuple[Path, Result]) -> None:
    _, result = converted
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (report["skipped"], report["repaired"], report["backend_loss"]) == ({}, {}, None)


def test_the_engine_reports_no_error(trace: Trace) -> None:
    assert trace.problems == {}


def test_every_range_reads_back_with_all_its_arguments(trace: Trace, expected: Expected) -> None:
    kinds: dict[str, set[type]] = defaultdict(set)
    for event in expected.ranges:
        for key, value in event.get("args", {}).items():
            kinds[key].add(type(value))
    found = Counter(
        (*ids(row), row.name, row.ts - expected.base, row.dur, read_arguments(row, kinds))
        for row in ranges(trace)
    )
    assert len(expected.ranges) > 10_000
    assert found == expected.rows()


def test_arrows_tie_the_same_operators(trace: Trace, expected: Expected) -> None:
    ends = [(flow.source, flow.target) for flow in trace.flows]
    found = Counter((a.name, a.ts - expected.base, b.name, b.ts - expected.base) for a, b in ends)
    assert len(expected.flows()) >= STEPS
    assert found == expected.flows()


def test_memory_totals_are_the_same_series(trace: Trace, expected: Expected) -> None:
    found = {
        path[-1]: [(ts - expected.base, value) for ts, value in series]
        for path, series in trace.series().items()
    }
    assert {name: len(series) for name, series in found.items()} == {
        name: len(series) for name, series in expected.counters().items()
    }
    assert found == expected.counters()


def test_nothing_needs_a_second_lane(converted: tuple[Path, Result]) -> None:
    output, _ = converted
    described = CliRunner().invoke(main, ["info", str(output), "--json"])
    assert described.exit_code == 0
    assert json.loads(described.stdout)["summary"].get("crossings", 0) == 0


def test_operators_inside_annotations_are_their_descendants(trace: Trace) -> None:
    by_id = {row.id: row for row in trace.slices}
    kind = {row.id: row.category.split(",")[-1] for row in trace.slices if row.category}
    steps = [row for row in trace.slices if row.name and row.name.startswith("step ")]
    inside = 0
    for row in (row for row in trace.slices if kind.get(row.id) == "cpu_op"):
        above, parent = set(), row.parent_id
        while parent is not None:
            above.add(parent)
            parent = by_id[parent].parent_id
        for step in steps:
            if (
                step.track.thread == row.track.thread
                and step.ts <= row.ts
                and row.ts + row.dur <= step.ts + step.dur
            ):
                inside += 1
                assert step.id in above
    assert inside > STEPS


def test_processes_and_threads_keep_their_names(trace: Trace, expected: Expected) -> None:
    names = {
        (event["name"], event["pid"], event["tid"] if "thread" in event["name"] else None): (
            event["args"]["name"]
        )
        for event in expected.events
        if event["name"] in ("process_name", "thread_name")
    }
    found: dict[Any, str | None] = {}
    for row in ranges(trace):
        if row.track.process and row.track.thread:
            found["process_name", row.track.process[0], None] = row.track.process[1]
            found["thread_name", row.track.process[0], row.track.thread[0]] = row.track.thread[1]
    assert names.items() <= found.items()
    functions = [row for row in ranges(trace) if str(row.category).endswith(",python_function")]
    assert {row.track.path[-1].endswith(" · Python stack") for row in functions} == {True}
