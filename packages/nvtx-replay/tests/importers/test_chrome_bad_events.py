# SPDX-License-Identifier: Apache-2.0
"""Events that are wrong in any way are written, repaired or counted, and never crash an import."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nvtx_replay.importers import ImportOptions, InputRefusedError

_any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.text(max_size=6),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["local", "global", "name", "k"]), st.integers(), max_size=2),
)
_id = st.sampled_from([1, 2, "1", "text", 2**40, -1, None, 0.5])
_ts = st.one_of(st.integers(-5, 50), st.floats(0, 50).map(lambda v: round(v, 4)), _any)
_event = st.one_of(
    _any,
    st.fixed_dictionaries(
        {},
        optional={
            "ph": st.one_of(st.sampled_from("XBEiICstfbneMPv"), _any),
            "name": st.one_of(st.sampled_from(["[memory]", "a", "process_name"]), _any),
            "cat": st.one_of(st.sampled_from(["python_function", "x,y"]), _any),
            "ts": _ts,
            "dur": _ts,
            "pid": st.one_of(_id, _any),
            "tid": st.one_of(_id, _any),
            "id": st.one_of(_id, _any),
            "id2": _any,
            "s": st.sampled_from(["t", "p", "g", 1]),
            "args": st.one_of(_any, st.dictionaries(st.text(max_size=4), _any, max_size=3)),
            "extra": _any,
        },
    ),
)
_header = st.dictionaries(st.sampled_from(["baseTimeNanoseconds", "x"]), _any, max_size=2)
_slow = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@_slow
@given(st.lists(_event, max_size=12), _header, st.sampled_from(["repair", "skip"]))
def test_any_events_are_accounted_for(record, events, header, on_error):
    text = json.dumps({**header, "traceEvents": events})
    recording, source = record(text, ImportOptions(on_error=on_error))
    report = source.report
    assert source.contents["events"].get("range", 0) == sum(
        row.kind in ("range", "push") for row in recording.rows
    )
    for row in recording.rows:
        assert row.end is None or row.end >= row.begin
    usable = [event for event in events if isinstance(event, dict) and "ph" in event]
    assert report.skipped.get("not_an_event", 0) == sum(not isinstance(e, dict) for e in events)
    assert report.skipped.get("event_without_phase", 0) == len(
        [event for event in events if isinstance(event, dict) and "ph" not in event]
    )
    written = len(recording.rows) + sum(map(len, recording.samples.values()))
    counted = sum(report.skipped.values()) + sum(report.repaired.values())
    silent = sum(
        event["ph"] in ("M", "s", "t", "f", "B", "b", "E", "e")
        for event in usable
        if isinstance(event["ph"], str)
    )
    assert written + counted + silent >= len(usable)


@_slow
@given(st.lists(_event, max_size=6))
def test_raising_either_refuses_or_finds_nothing_to_tell(record, events):
    text = json.dumps({"traceEvents": events})
    try:
        _, source = record(text, ImportOptions(on_error="raise"))
    except InputRefusedError:
        return
    assert source.report.skipped == {}
    assert source.report.repaired.keys() <= {"changed_text"}


@pytest.mark.parametrize("unusual", [float("nan"), True, [1], {"a": 1}, "x" * 500])
def test_ids_of_any_type_make_rows(record, unusual):
    events = [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": unusual, "tid": unusual}]
    recording, source = record(json.dumps(events))
    assert recording.spans() == [("a", 1000, 2000)]
    assert source.report.lossless


@pytest.mark.parametrize("depth", [10, 400, 900])
@pytest.mark.parametrize("key", ["args", "name", "ph", "cat", "pid", "ts", "id", "s"])
def test_values_nested_deeply_are_told_or_carried(record, depth, key):
    value = "[" * depth + "1" + "]" * depth
    plain = {"ph": '"B"', "name": '"a"', "ts": "1", "id": "1", "cat": '"c"'}
    event = ",".join(f'"{k}": {v}' for k, v in {**plain, key: value}.items())
    recording, source = record(f'[{{{event}}}, {{{event}, "ph": "b"}}, {value}]')
    if source.report.skipped.get("input_cut"):
        assert "nested too deeply" in source.report.examples["input_cut"][0]
    elif key == "args":
        assert recording.rows[0].args["args"] == value
