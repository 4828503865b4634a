# SPDX-License-Identifier: Apache-2.0
"""Hard cases of Chrome traces, converted and read back by the real trace processor."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from nvtx_replay.cli import main
from support import Trace

Convert = Callable[..., Trace]


@pytest.fixture
def convert(tmp_path: Path, load: Callable[[Path], Trace]) -> Convert:
    """Convert events and read the result; the report is left in `report.json`."""

    def run(events: Any, *options: str) -> Trace:
        source, output = tmp_path / "in.json", tmp_path / "out.pftrace"
        source.write_text(events if isinstance(events, str) else json.dumps(events))
        command = ["convert", str(source), "-o", str(output), "-f", "--json", *options]
        result = CliRunner().invoke(main, command)
        assert result.exit_code in (0, 3), result.stderr
        (tmp_path / "report.json").write_text(result.stdout)
        trace = load(output)
        assert trace.problems == {}
        return trace

    return run


def x(name: str, ts: float, dur: float, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 2, **more}


def spans(trace: Trace) -> list[tuple[str | None, int, int]]:
    return sorted(
        ((row.name, row.ts, row.dur) for row in trace.slices if row.category), key=lambda s: s[1:]
    )


@pytest.mark.parametrize(
    "events",
    [
        [("a", 0, 5), ("b", 3, 4)],
        [("a", 0, 10), ("b", 2, 8.004)],
        [("a", 0, 10), ("b", 5, 10), ("c", 7, 20)],
    ],
)
def test_ranges_that_cross_keep_their_begin_and_duration(
    convert: Convert, tmp_path: Path, events: list[tuple[str, float, float]]
) -> None:
    trace = convert([x(*event) for event in events])
    assert spans(trace) == [(n, int(b * 1000), round(d * 1000)) for n, b, d in events]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["backend_counts"]["crossings"] == len(events) - 1


def test_processes_whose_threads_share_id_and_name_are_converted_together(
    convert: Convert,
) -> None:
    named = [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": 7, "args": {"name": "stream 7"}}
        for pid in (1, 2)
    ]
    trace = convert([*named, *(x(f"of {pid}", 0, 5, pid=pid, tid=7) for pid in (1, 2))])
    assert sorted(spans(trace)) == [("of 1", 0, 5000), ("of 2", 0, 5000)]


def test_clipping_on_request_puts_a_child_into_its_parent(convert: Convert) -> None:
    trace = convert([x("a", 0, 10), x("b", 2, 8.004)], "--clip", "4")
    assert spans(trace) == [("a", 0, 10_000), ("b", 2000, 8000)]
    assert trace.named("b").parent == "a"


def test_equal_starts_nest_by_length_in_any_order(convert: Convert) -> None:
    events = [x("ten", 1, 10, args={"a": 1}), x("five", 1, 5), x("five", 1, 5), x("none", 1, 0)]
    events.append({**x("mark", 1, 0), "ph": "i", "args": {"k": "v"}})
    nestings = set()
    for seed in range(6):
        random.Random(seed).shuffle(events)
        rows = convert(events).slices
        nestings.add(tuple(sorted((r.name, r.depth, r.parent) for r in rows if r.category)))
    assert nestings == {
        (
            ("five", 1, "ten"),
            ("five", 2, "five"),
            ("mark", 3, "five"),
            ("none", 3, "five"),
            ("ten", 0, None),
        )
    }


def test_ranges_of_one_place_nest_in_file_order(convert: Convert) -> None:
    kinds: list[dict[str, Any]] = [{"a": 1}, {"b": "x"}, {}, {"c": 0.5}]
    trace = convert([x(f"n{at}", 1, 10, args=kinds[at % 4]) for at in range(12)])
    assert [
        (r.name, r.depth) for r in sorted(trace.slices, key=lambda r: r.depth) if r.category
    ] == [(f"n{at}", at) for at in range(12)]


def test_gaps_of_counters_are_gaps(convert: Convert) -> None:
    values = ["1", "NaN", "3", "Infinity", "null", '"5"', "0.5"]
    events = [
        f'{{"ph":"C","name":"load","pid":1,"ts":{at},"args":{{"cpu":{value}}}}}'
        for at, value in enumerate(values)
    ]
    trace = convert(f"[{','.join(events)}]")
    (series,) = trace.series().values()
    assert series == [
        (0, 1.0),
        (1000, None),
        (2000, 3.0),
        (3000, None),
        (4000, None),
        (5000, 5.0),
        (6000, 0.5),
    ]
    assert {sample.track.process for sample in trace.counters} == {(1, None)}


def test_negative_times_are_moved_and_unfinished_ranges_stay_open(
    convert: Convert, tmp_path: Path
) -> None:
    trace = convert([x("a", -500, 1), x("b", 10, -1.7e15), x("c", 20, 5)])
    assert spans(trace) == [("a", 0, 1000), ("b", 510_000, -1), ("c", 520_000, 5000)]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["time_offset_ns"] == 500_000
    assert report["backend_counts"]["ranges_left_open"] == 1


def test_every_id_is_a_row_of_its_own(convert: Convert) -> None:
    ids = [140589156634432, 140588800255680, 7168000000, "CPU functions", "7", 7, -1, 0]
    events: list[dict[str, Any]] = [x(f"n{at}", at, 1, tid=tid) for at, tid in enumerate(ids)]
    for tid, name in ((140589156634432, "worker"), (7, "seven")):
        args = {"name": name}
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": args})
    trace = convert(events)
    rows = [trace.named(f"n{at}").track for at in range(len(ids))]
    assert {row.process for row in rows} == {(1, None)}
    assert [row.thread or row.path[-1] for row in rows] == [
        "worker (140589156634432)",
        "140588800255680",
        "7168000000",
        "CPU functions",
        (7, "seven"),
        (7, "seven"),
        "-1",
        "0",
    ]


def test_gpu_rows_are_plain_tracks_and_arrows_reach_them(convert: Convert) -> None:
    events = [
        x("launch", 1, 2, cat="cuda_runtime"),
        x("kernel", 5, 3, pid=0, tid=7, cat="kernel", args={"stream": 7, "grid": [1, 2, 3]}),
        {"ph": "s", "id": 9, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 2, "ts": 1},
        {"ph": "f", "id": 9, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 5, "bp": "e"},
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU 0"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}},
    ]
    trace = convert(events)
    kernel = trace.named("kernel")
    assert kernel.track.path[-3:] == ("python (0)", "stream 7", "stream 7")
    assert kernel.args == {"payload.stream": 7, "payload.grid": "[1, 2, 3]"}
    assert [flow.row() for flow in trace.flows] == [("launch", 1000, "kernel", 5000)]


def test_async_ranges_may_cross_and_begin_and_end_pairs_nest(convert: Convert) -> None:
    events: list[dict[str, Any]] = [
        {"ph": ph, "name": name, "ts": ts, "pid": 1, "tid": 2, "id": name, "cat": "net"}
        for ph, name, ts in (("b", "r1", 1), ("b", "r2", 3), ("e", "r1", 5), ("e", "r2", 8))
    ]
    events += [
        {"ph": ph, "name": n, "ts": ts, "pid": 1, "tid": 2}
        for ph, n, ts in (("B", "out", 1), ("B", "in", 2), ("E", "in", 3), ("E", "out", 4))
    ]
    trace = convert(events)
    assert spans(trace) == [
        ("out", 1000, 3000),
        ("r1", 1000, 4000),
        ("in", 2000, 1000),
        ("r2", 3000, 5000),
    ]
    assert trace.named("in").parent == "out"
    assert trace.named("r2").parent is None
