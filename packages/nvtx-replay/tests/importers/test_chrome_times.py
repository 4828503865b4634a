# SPDX-License-Identifier: Apache-2.0
"""Times come out as exact nanoseconds, whatever the file says about display or base."""

from __future__ import annotations

import json
from fractions import Fraction

import nvtx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nvtx_replay.errors import ConfigError
from nvtx_replay.importers import ImportOptions, InputRefusedError
from nvtx_replay.importers.chrome._clock import Clock, TimeValueError, parse_unit
from nvtx_replay.importers.chrome._json_events import Number

REALTIME = nvtx.TimestampType.CPU_CLOCK_GETTIME_REALTIME.value


@given(ts=st.decimals(-(10**15), 10**15, places=6), dur=st.decimals(0, 10**9, places=6))
def test_begin_and_end_are_each_rounded_half_to_even_from_the_exact_decimals(ts, dur):
    clock = Clock()
    begin = clock.exact(Number(ts))
    end = begin + clock.exact(Number(dur))
    assert clock.round(begin) == round(Fraction(ts) * 1000)
    assert clock.round(end) == round((Fraction(ts) + Fraction(dur)) * 1000)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7000),
        (Number("5191359099419.093"), 5191359099419093),
        (Number("-0.5"), -500),
        (Number("1.5e3"), 1500000),
        (Number("0.0005"), 0),
        (Number("0.0015"), 2),
        (Number("1e-999999"), 0),
        (" 2.25 ", 2250),
    ],
)
def test_numbers_and_texts_of_microseconds_become_nanoseconds(value, expected):
    assert Clock().nanoseconds(value) == expected


@pytest.mark.parametrize(
    "value", [None, True, [], float("nan"), "later", "nan", Number("1e999999999"), "Infinity"]
)
def test_what_is_no_finite_number_is_no_time(value):
    with pytest.raises(TimeValueError, match=r"expected a|can hold"):
        Clock().exact(value)


@pytest.mark.parametrize("display", ["ns", "ms", "us", None])
def test_the_display_unit_never_scales_times(record, display):
    header = {} if display is None else {"displayTimeUnit": display}
    recording, _ = record([{"ph": "X", "name": "a", "ts": 1.5, "dur": 2}], **header)
    assert recording.spans() == [("a", 1500, 3500)]


@pytest.mark.parametrize(
    ("unit", "span"),
    [
        ("ns", (4, 7)),
        ("us", (4000, 7000)),
        ("ms", (4 * 10**6, 7 * 10**6)),
        ("s", (4 * 10**9, 7 * 10**9)),
    ],
)
def test_a_unit_given_by_the_user_scales_begin_and_duration(record, unit, span):
    events = [{"ph": "X", "name": "a", "ts": 4, "dur": 3}]
    recording, _ = record(events, ImportOptions(unit=unit))
    assert recording.spans() == [("a", *span)]


def test_an_unknown_unit_is_refused():
    with pytest.raises(ConfigError, match=r"expected 'ns', 'us', 'ms' or 's'"):
        parse_unit("hours")


BASE = 1790857026000000001
EVENTS = json.dumps([{"ph": "X", "name": "a", "ts": 10.001, "dur": 1, "pid": 1, "tid": 1}])


@pytest.mark.parametrize(
    "text",
    [
        f'{{"baseTimeNanoseconds": {BASE}, "traceEvents": {EVENTS}}}',
        f'{{"traceEvents": {EVENTS}, "baseTimeNanoseconds": {BASE}}}',
    ],
)
def test_a_base_time_before_or_after_the_events_is_added_in_integers(record, text):
    recording, source = record(text)
    assert recording.spans() == [("a", BASE + 10_001, BASE + 11_001)]
    assert recording.time_domains == {REALTIME}
    assert source.contents["clock"] == "realtime"


def test_without_a_base_time_the_clock_is_none(record):
    recording, source = record(f'{{"traceEvents": {EVENTS}}}')
    assert recording.spans() == [("a", 10_001, 11_001)]
    assert recording.time_domains == {nvtx.TimestampType.NONE.value}
    assert source.contents["clock"] == "relative"


def test_a_base_time_without_any_events_is_read(record):
    recording, source = record(f'{{"baseTimeNanoseconds": {BASE}}}')
    assert recording.rows == []
    assert source.contents["base_time_ns"] == BASE
    assert source.contents["notes"] == ["no timed events"]


def test_files_with_different_bases_land_on_one_clock(record):
    early, _ = record([{"ph": "X", "name": "a", "ts": 5000, "dur": 1}], baseTimeNanoseconds=10**18)
    late, _ = record(
        [{"ph": "X", "name": "a", "ts": 0, "dur": 1}], baseTimeNanoseconds=10**18 + 5_000_000
    )
    assert early.spans() == late.spans()


def test_a_base_time_that_cannot_be_used_is_told_and_times_stay_relative(record):
    recording, source = record(
        [{"ph": "X", "name": "a", "ts": 1, "dur": 1}], baseTimeNanoseconds="noon"
    )
    assert recording.spans() == [("a", 1000, 2000)]
    assert source.report.skipped == {"bad_base_time": 1}


def test_negative_times_stay_exact_and_are_reported_for_one_offset(record):
    recording, source = record(
        [
            {"ph": "X", "name": "a", "ts": -500, "dur": 1},
            {"ph": "X", "name": "b", "ts": 3, "dur": 1},
        ]
    )
    assert source.first_ns == -500_000
    assert recording.spans() == [("a", -500_000, -499_000), ("b", 3000, 4000)]


def test_negative_and_missing_durations_become_ranges_that_never_end(record):
    events = [
        {"ph": "X", "name": "minus one", "ts": 1, "dur": -1},
        {"ph": "X", "name": "stamp zero", "ts": 2, "dur": -1.7e15},
        {"ph": "X", "name": "none", "ts": 3},
    ]
    recording, source = record(events)
    assert [(row.kind, row.name, row.begin, row.end) for row in recording.rows] == [
        ("push", "minus one", 1000, None),
        ("push", "stamp zero", 2000, None),
        ("push", "none", 3000, None),
    ]
    assert source.report.repaired == {"negative_duration": 2, "range_without_duration": 1}


def test_skipping_leaves_ranges_with_negative_durations_out(record):
    events = [{"ph": "X", "name": "a", "ts": 1, "dur": -1}, {"ph": "i", "name": "b", "ts": 2}]
    recording, source = record(events, ImportOptions(on_error="skip"))
    assert recording.spans() == [("b", 2000, None)]
    assert source.report.skipped == {"negative_duration": 1}


def test_raising_refuses_the_input_at_the_first_fault(record):
    with pytest.raises(InputRefusedError, match="event 0: its duration is -1000 ns"):
        record([{"ph": "X", "ts": 1, "dur": -1}], ImportOptions(on_error="raise"))


def test_times_beyond_64_bits_are_skipped_not_wrapped(record):
    events = [
        {"ph": "i", "name": "far", "ts": 2**60},
        {"ph": "X", "name": "long", "ts": 0, "dur": 2**60},
        {"ph": "i", "name": "near", "ts": 1},
    ]
    recording, source = record(events)
    assert recording.spans() == [("near", 1000, None)]
    assert source.report.skipped == {"bad_timestamp": 2}


def test_an_implausible_span_is_noted(record):
    _, source = record([{"ph": "X", "name": "a", "ts": 0, "dur": 10**14}])
    assert source.contents["notes"] == [
        "spans more than a year: if its times are no microseconds, give the unit"
    ]


def test_times_written_as_texts_are_read_and_counted(record):
    events = [{"ph": "X", "name": "a", "ts": "1.5", "dur": "2"}]
    recording, source = record(events)
    assert recording.spans() == [("a", 1500, 3500)]
    assert source.report.repaired == {"number_as_text": 2}
    recording, source = record(events, ImportOptions(on_error="skip"))
    assert recording.spans() == []
    assert source.report.skipped == {"number_as_text": 1}
