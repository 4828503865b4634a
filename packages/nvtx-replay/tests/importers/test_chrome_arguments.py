# SPDX-License-Identifier: Apache-2.0
"""Arguments become payload fields, exactly, whatever their shape, size and number."""

from __future__ import annotations

import json
import math

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nvtx_replay.importers.chrome import _emit, _layout, _strings, _text


def x(name, args, ts=1, **more):
    return {"ph": "X", "name": name, "ts": ts, "dur": 1, "args": args, **more}


def test_each_type_of_value_has_its_field(record):
    args = {
        "int": -1,
        "big": 2**63,
        "huge": 2**64 + 1,
        "float": 0.5,
        "text": "é😀",
        "yes": True,
        "none": None,
        "list": [[1, 2], ["a"]],
        "object": {"k": 0.10},
        "empty": "",
    }
    recording, _ = record([x("a", args)])
    assert recording.named("a").args == {
        "int": -1,
        "big": 2**63,
        "huge": str(2**64 + 1),
        "float": 0.5,
        "text": "é😀",
        "yes": "true",
        "list": '[[1, 2], ["a"]]',
        "object": '{"k": 0.1}',
        "empty": "",
    }


def test_decimals_inside_lists_keep_their_digits(record):
    recording, _ = record('[{"ph":"i","name":"a","ts":1,"args":{"l":[1.10, 1e400, NaN]}}]')
    assert recording.named("a").args == {"l": "[1.10, 1e400, NaN]"}


def test_numbers_that_are_not_finite_travel_as_texts(record):
    recording, _ = record('[{"ph":"i","name":"a","ts":1,"args":{"n":NaN,"i":-Infinity,"o":1e999}}]')
    assert recording.named("a").args == {"n": "NaN", "i": "-Infinity", "o": "1e999"}


def test_arguments_named_like_fields_with_a_role_do_not_meet_them(record):
    names = ["range_begin", "range_end", "message", "category", "nvtx.flow_out", "nvtx.flow_in", ""]
    recording, _ = record([x("a", {name: at for at, name in enumerate(names)}, cat="c")])
    row = recording.named("a")
    assert (row.begin, row.end, row.category) == (1000, 2000, "c")
    assert row.args == {
        "range_begin": 0,
        "range_end": 1,
        "message": 2,
        "category": 3,
        "nvtx.flow_out #2": 4,
        "nvtx.flow_in #2": 5,
        "(empty)": 6,
    }


def test_keys_that_differ_only_in_what_cannot_be_carried_stay_apart(record):
    recording, _ = record([x("a", {"k\0": 1, "k␀": 2, chr(0xD800): 3, "\ufffd": 4})])
    assert recording.named("a").args == {"k␀": 1, "k␀ #2": 2, "\ufffd": 3, "\ufffd #2": 4}


def test_texts_of_any_length_are_kept_whole(record):
    lengths = [0, 15, 16, 17, 64, 65, 5000, 100_000]
    recording, _ = record([x("n" * n, {"text": "t" * n}, ts=n) for n in lengths])
    assert [(len(row.name), len(row.args["text"])) for row in recording.rows] == [
        (n, n) for n in lengths
    ]


def test_texts_with_what_cannot_be_carried_are_changed_visibly_and_counted(record):
    events = [x("a\0b", {"k": chr(0xD800)}, ts=at) for at in range(3)]
    recording, source = record(events)
    assert {(row.name, row.args["k"]) for row in recording.rows} == {("a␀b", "\ufffd")}
    assert source.report.repaired == {"changed_text": 6}


def test_repeated_texts_are_registered_and_texts_met_once_are_not(record):
    events = [x("same", {"k": "also same", "u": f"unique {at}"}, ts=at) for at in range(100)]
    recording, _ = record(events)
    assert recording.registered == 2
    assert [row.args["u"] for row in sorted(recording.rows, key=lambda row: row.begin)] == [
        f"unique {at}" for at in range(100)
    ]


def test_registered_strings_stay_within_their_bound(record, monkeypatch):
    monkeypatch.setattr(
        _emit, "RepeatedStrings", lambda domain: _strings.RepeatedStrings(domain, 3)
    )
    events = [x(f"name {at % 10}", {}, ts=at) for at in range(100)]
    recording, _ = record(events)
    assert recording.registered <= 3
    assert sorted(row.name for row in recording.rows) == sorted(e["name"] for e in events)


def test_layouts_beyond_the_bound_carry_one_json_text(record, monkeypatch):
    monkeypatch.setattr(_emit, "Encoder", lambda strings: _layout.Encoder(strings, max_layouts=5))
    events = [x(f"n{at}", {f"key {at}": at, "l": [at]}, ts=at) for at in range(20)]
    recording, source = record(events)
    assert recording.schemas < 10
    for at in range(20):
        args = recording.named(f"n{at}").args
        assert (json.loads(args["args"]) if "args" in args else args) in (
            {f"key {at}": at, "l": [at]},
            {f"key {at}": at, "l": f"[{at}]"},
        )
    assert source.report.repaired == {"args_as_json_text": 15}


def test_registered_and_plain_texts_in_turn_do_not_use_up_the_layouts(record, monkeypatch):
    monkeypatch.setattr(_emit, "Encoder", lambda strings: _layout.Encoder(strings, max_layouts=12))
    events = [
        x("n", {f"k{bit}": "seen" if at >> bit & 1 else f"once {at} {bit}" for bit in range(6)}, at)
        for at in range(64)
    ]
    recording, source = record(events)
    rows = sorted(recording.rows, key=lambda row: row.begin)
    assert [row.args for row in rows] == [event["args"] for event in events]
    assert recording.schemas <= 12
    assert source.report.lossless
    assert source.report.repaired == {}


def test_one_layout_serves_all_events_of_one_shape(record):
    recording, _ = record([x("n", {"a": at, "b": 0.5}, ts=at) for at in range(50)])
    assert recording.schemas == 2  # the first name travels as text


def test_categories_beyond_the_bound_are_arguments(record, monkeypatch):
    monkeypatch.setattr(_emit, "MAX_CATEGORIES", 2)
    recording, _ = record([x(f"n{at}", {}, cat=f"c{at}") for at in range(4)])
    assert [(row.category, row.args) for row in recording.rows] == [
        ("c0", {}),
        ("c1", {}),
        ("", {"cat": "c2"}),
        ("", {"cat": "c3"}),
    ]


def test_a_range_with_many_flows_has_them_in_one_array(record):
    flows = [{"ph": p, "id": i, "ts": t, "cat": "c"} for i in range(5) for p, t in ("s1", "f9")]
    flows = [{**flow, "ts": int(flow["ts"])} for flow in flows]
    recording, _ = record([x("a", {}, ts=1), x("b", {}, ts=9), *flows])
    assert recording.named("a").args == {"nvtx.flow_out": [1, 2, 3, 4, 5, 0, 0, 0]}
    assert recording.named("b").args == {"nvtx.flow_in": [1, 2, 3, 4, 5, 0, 0, 0]}


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
_key = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.dictionaries(_key, _json, max_size=4), max_size=8))
def test_any_arguments_come_back_as_they_were(record, arguments):
    recording, _ = record([x(f"n{at}", args, ts=at) for at, args in enumerate(arguments)])
    for at, args in enumerate(arguments):
        found = recording.named(f"n{at}").args
        assert found.keys() == {key for key, value in args.items() if value is not None}
        for key, value in found.items():
            assert _same(value, args[key]), key


@given(_json)
def test_deeply_nested_values_have_the_text_that_shallow_ones_have(value):
    assert "".join(_text._parts(value)) == _text.json_text(value)


def _same(found, value):
    if isinstance(value, str):
        return found == value.encode("utf-16", "replace").decode("utf-16").replace("\0", "␀")
    if isinstance(found, str):
        found = json.loads(found)
    if isinstance(value, float) and math.isnan(value):
        return math.isnan(found)
    return _plain(found) == _plain(value)


def _plain(value):
    return json.loads(json.dumps(value), parse_constant=str)
