# SPDX-License-Identifier: Apache-2.0
"""Every complete event is read, and a fault is named by its byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nvtx_replay.importers.chrome import _json_events
from nvtx_replay.importers.chrome._json_events import EventReader, Number


def read(text, chunk=7):
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    reader = EventReader(data[at : at + chunk] for at in range(0, len(data), chunk))
    return list(reader), reader


EVENTS = [{"ph": "X", "name": "a", "args": {"k": [1, {"z": "}],["}]}}, {"ph": "i"}, {"ph": "é😀"}]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("indent", [None, 2])
def test_the_object_form_yields_events_and_the_values_around_them(chunk, indent):
    document = {"before": {"x": [1, 2]}, "traceEvents": EVENTS, "after": "z", "n": 12}
    events, reader = read(json.dumps(document, indent=indent, ensure_ascii=False), chunk)
    assert events == EVENTS
    assert reader.header == {"before": {"x": [1, 2]}, "after": "z", "n": 12}
    assert reader.fault is None


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}, {"b": 2}]',
        '[{"a": 1}, {"b": 2}',
        '[{"a": 1},\n{"b": 2},\n',
        '[,{"a": 1},,{"b": 2},]',
        '\ufeff [{"a": 1} {"b": 2}]\n',
    ],
)
def test_the_array_form_may_lack_its_end_and_have_stray_commas(text):
    events, reader = read(text)
    assert events == [{"a": 1}, {"b": 2}]
    assert reader.fault is None


@pytest.mark.parametrize("text", ["[]", "{}", '{"traceEvents": []}', '{"traceEvents": null}', "["])
def test_an_input_without_events_yields_none(text):
    events, reader = read(text)
    assert events == []
    assert reader.fault is None


@given(st.data())
def test_a_cut_anywhere_yields_a_prefix_and_names_the_cut(data):
    whole = json.dumps({"a": 1, "traceEvents": EVENTS * 3, "b": 2}, ensure_ascii=False).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    events, reader = read(whole[:cut])
    assert events == (EVENTS * 3)[: len(events)]
    assert reader.fault is not None
    assert reader.fault.offset in (cut, cut - 1, cut - 2, cut - 3)
    complete = whole[:cut].count(b'"ph"')
    assert complete - 1 <= len(events) <= complete


def test_a_fault_inside_an_event_is_named_by_its_byte():
    text = '[{"é": 1}, {"b": oops}, {"c": 3}]'
    events, reader = read(text)
    assert events == [{"é": 1}]
    assert reader.fault.offset == text.encode().index(b"oops")
    assert "begins at byte 12" in str(reader.fault)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "expected '[' or '{', found 'n' at byte 0"),
        ("", "expected '[' or '{', found the end of the input at byte 0"),
        ('{"a" 1}', "expected ':' after 'a', found '1' at byte 5"),
        ("{1: 2}", "expected a key or '}', found '1' at byte 1"),
        ('[{"a": 1}] x', "expected the end of the file, found 'x' at byte 11"),
        (
            '{"traceEvents": [{"a": 1}',
            "expected an event or ']', found the end of the input at byte 25",
        ),
    ],
)
def test_what_breaks_the_document_is_named(text, reason):
    _, reader = read(text)
    assert str(reader.fault) == reason


def test_nesting_without_end_is_a_fault_not_a_crash():
    _, reader = read("[" * 200_000, chunk=100_000)
    assert "nested too deeply" in str(reader.fault)


def test_integers_of_any_size_and_decimals_stay_exact():
    digits = "9" * 5000
    events, _ = read(f'[{{"i": {2**64 + 1}, "d": 5187756752224.174, "h": {digits}}}]')
    assert events == [{"i": 2**64 + 1, "d": "5187756752224.174", "h": digits}]
    assert type(events[0]["d"]) is Number
    assert type(events[0]["h"]) is Number


def test_nan_and_infinity_are_read():
    events, reader = read('[{"a": [NaN, Infinity, -Infinity]}]', chunk=1)
    assert [str(value) for value in events[0]["a"]] == ["nan", "inf", "-inf"]
    assert reader.fault is None


def test_invalid_bytes_are_counted_and_offsets_stay_right():
    events, reader = read(b'[{"n": "a\xffb\xc3"}, oops]', chunk=3)
    assert events == [{"n": "a\udcffb\udcc3"}]
    assert reader.invalid_bytes == 2
    assert reader.fault.offset == 16


def test_a_value_longer_than_the_window_is_refused(monkeypatch):
    monkeypatch.setattr(_json_events, "MAX_VALUE_CHARS", 1000)
    events, reader = read(json.dumps([{"a": 1}, {"b": "x" * 5000}]), chunk=100)
    assert events == [{"a": 1}]
    assert "a value longer than 1000 characters at byte 11" in str(reader.fault)


@given(st.binary(max_size=300))
def test_no_input_crashes_the_reader(data):
    events, reader = read(data)
    assert isinstance(events, list)
    assert reader.fault is None or 0 <= reader.fault.offset <= len(data)


@given(st.integers(0, 400), st.binary(min_size=1, max_size=3))
def test_no_damage_to_a_valid_input_crashes_the_reader(at, damage):
    whole = bytearray(json.dumps({"traceEvents": EVENTS * 3, "b": 2}).encode())
    whole[at : at + len(damage)] = damage
    events, reader = read(bytes(whole))
    assert events or reader.fault or reader.header


def test_the_window_stays_small_however_long_the_input(monkeypatch):
    monkeypatch.setattr(_json_events, "_COMPACT_AT", 1000)
    event = json.dumps({"ph": "i", "pad": "x" * 50}).encode() + b",\n"
    reader = EventReader([b"[", *([event] * 2000)])
    longest = 0
    count = 0
    for _ in reader:
        count += 1
        longest = max(longest, len(reader._text))
    assert count == 2000
    assert longest < 2000
