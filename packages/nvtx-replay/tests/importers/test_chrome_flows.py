# SPDX-License-Identifier: Apache-2.0
"""Flow events become edges between the ranges that enclose them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nvtx_replay.importers.chrome import _flows, _ranges
from nvtx_replay.importers.chrome._binding import UNBOUND, bind
from nvtx_replay.importers.chrome._ranges import ANNOTATIONS, PYTHON_STACK, RangeSpool


def x(name, ts, dur, tid=1, **more):
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": tid, **more}


def f(ph, identifier, ts, tid=1, **more):
    return {"ph": ph, "id": identifier, "ts": ts, "pid": 1, "tid": tid, "cat": "fwd", **more}


RANGES = [x("a", 0, 10), x("b", 20, 10), x("c", 40, 10), x("d", 60, 10, tid=2)]


def test_starts_steps_and_ends_tie_the_enclosing_ranges(record):
    recording, source = record(
        [
            *RANGES,
            f("s", 1, 0),
            f("t", 1, 25),
            f("f", 1, 45, bp="e"),
            f("s", 2, 5),
            f("f", 2, 65, 2),
        ]
    )
    assert recording.edges() == [
        ("a", 0, "b", 20_000),
        ("a", 0, "d", 60_000),
        ("b", 20_000, "c", 40_000),
    ]
    assert source.report.lossless


def test_the_innermost_range_is_bound_and_the_python_stack_comes_last(record):
    events = [
        x("outer", 0, 10),
        x("inner", 2, 3),
        x("py", 2, 1, cat="python_function"),
        x("only py", 20, 5, cat="python_function"),
        f("s", 1, 2.5),
        f("f", 1, 21),
    ]
    recording, _ = record(events)
    assert recording.edges() == [("inner", 2000, "only py", 20_000)]


def test_ranges_are_half_open_and_one_of_no_length_holds_its_begin(record):
    events = [x("a", 0, 10), x("b", 10, 5), x("tick", 12, 0), f("s", 1, 10), f("f", 1, 12)]
    recording, _ = record(events)
    assert recording.edges() == [("b", 10_000, "tick", 12_000)]


def test_ids_belong_to_a_category_and_cross_processes(record):
    gpu = {**x("kernel", 50, 5, tid=7), "pid": 0}
    end = {**f("f", 1, 51, tid=7), "pid": 0}
    recording, source = record([*RANGES, gpu, f("s", 1, 5), end, {**f("f", 1, 25), "cat": "other"}])
    assert recording.edges() == [("a", 0, "kernel", 50_000)]
    assert source.report.skipped == {"flow_without_start": 1}


def test_an_id_used_again_starts_a_new_flow(record):
    flows = [
        f("s", 1, 1),
        f("f", 1, 21),
        f("s", 1, 22),
        f("f", 1, 41),
        f("s", 1, 42),
        f("f", 1, 61, 2),
    ]
    recording, _ = record([*RANGES, *flows])
    assert recording.edges() == [
        ("a", 0, "b", 20_000),
        ("b", 20_000, "c", 40_000),
        ("c", 40_000, "d", 60_000),
    ]


def test_one_start_reaches_many_ends(record):
    recording, _ = record([*RANGES, f("s", 1, 1), f("f", 1, 21), f("f", 1, 41), f("f", 1, 61, 2)])
    assert [edge[2] for edge in recording.edges()] == ["b", "c", "d"]
    assert len(recording.named("a").args["nvtx.flow_out"]) == 4


def test_an_end_on_a_clock_that_lags_behind_its_start_is_kept(record):
    recording, source = record([*RANGES, f("f", 1, 5), f("s", 1, 25)])
    assert recording.edges() == [("b", 20_000, "a", 0)]
    assert source.report.lossless


@pytest.mark.parametrize(
    ("flows", "lost"),
    [
        ([f("s", 1, 15), f("f", 1, 25)], {"flow_outside_ranges": 1, "flow_without_start": 1}),
        ([f("t", 1, 25)], {"flow_without_start": 1}),
        ([f("s", 1, 5), f("f", 1, 35)], {"flow_outside_ranges": 1, "flow_without_end": 1}),
        ([f("s", 1, 5), f("f", 1, 6)], {"flow_within_one_range": 1}),
        ([f("s", 1, 5), f("s", 1, 25), f("f", 1, 45)], {"flow_without_end": 1}),
        ([{"ph": "s", "ts": 5, "pid": 1, "tid": 1}], {"flow_without_id": 1}),
        (
            [f("s", 1, 5, tid=99), f("f", 1, 25)],
            {"flow_outside_ranges": 1, "flow_without_start": 1},
        ),
    ],
)
def test_ends_that_tie_nothing_are_dropped_and_counted(record, flows, lost):
    _, source = record([*RANGES, *flows])
    assert source.report.skipped == lost


def test_text_ids_and_big_ids_are_kept_apart(record):
    ids = ["0x1", 1, "1", 2**64, "é"]
    flows = [f("s", i, 5) for i in ids[:2]] + [f("s", i, 5) for i in ids[3:]]
    flows += [f("f", i, 25) for i in (*ids[:1], "1", *ids[3:])]
    recording, source = record([*RANGES, *flows])
    assert len(recording.edges()) == 4
    assert source.report.lossless


def test_flows_beyond_the_limit_are_counted(record, monkeypatch):
    monkeypatch.setattr(_flows, "MAX_POINTS", 2)
    recording, source = record([*RANGES, f("s", 1, 5), f("f", 1, 25), f("f", 1, 45)])
    assert len(recording.edges()) == 1
    assert source.report.skipped == {"flow_beyond_limit": 1}


_spans = st.tuples(st.integers(0, 20), st.integers(0, 8), st.integers(0, 1), st.booleans())


@given(st.lists(_spans, max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 1))))
def test_binding_in_chunks_equals_looking_at_every_range(spans, points):
    spool = RangeSpool()
    for begin, length, row, python in spans:
        spool.append(row, PYTHON_STACK if python else ANNOTATIONS, begin, begin + length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ranges, "_CHUNK", 4)
        bound = bind([time for time, _ in points], [row for _, row in points], spool).tolist()
    spool.close()
    assert bound == [_enclosing(spans, *point) for point in points]


def _enclosing(spans, time, row):
    found = [
        (not python, begin, -max(length, 1) - begin, at)
        for at, (begin, length, its_row, python) in enumerate(spans)
        if its_row == row and begin <= time < begin + max(length, 1)
    ]
    return max(found)[3] if found else UNBOUND
