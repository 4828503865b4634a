# SPDX-License-Identifier: Apache-2.0
"""Packing dates and durations: exact integer nanoseconds, no zone guessed."""

import datetime as dt
from fractions import Fraction

import numpy as np
import nvtx_schema as nvs
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

UTC = dt.timezone.utc
EAST = dt.timezone(dt.timedelta(hours=2))
NOON = dt.datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
NOON_NS = 1_772_366_400_123_456_000

marks = nvs.mark_schema(message=None)
dated = nvs.mark_schema(message=None, fields={"when": "datetime64[ms]", "took": "timedelta64[s]"})


def fault(schema, **columns):
    with pytest.raises(nvs.PackError) as caught:
        schema.pack(**columns)
    (problem,) = caught.value.problems
    return problem.field, problem.found, problem.rows


@pytest.mark.parametrize(
    "times",
    [
        [NOON, NOON.astimezone(EAST)],
        pd.Series([NOON, NOON.astimezone(EAST).astimezone(UTC)]),
        pd.Series(pd.to_datetime([NOON_NS, NOON_NS], utc=True)).dt.tz_convert("Asia/Tokyo"),
        pd.DatetimeIndex([NOON, NOON]),
    ],
    ids=["datetime", "pandas", "pandas elsewhere", "index"],
)
def test_dates_with_a_zone_become_utc_nanoseconds(times):
    assert marks.pack(time=times)["time"].tolist() == [NOON_NS, NOON_NS]


@pytest.mark.parametrize(
    "times",
    [
        [NOON.replace(tzinfo=None)],
        pd.Series([NOON.replace(tzinfo=None)]),
        np.array(["2026-03-01T12:00:00.123456"], dtype="M8[us]"),
    ],
    ids=["datetime", "pandas", "numpy"],
)
def test_dates_without_a_zone_are_refused_unless_said_to_be_utc(times):
    assert fault(marks, time=times) == ("time", "dates have no time zone", (0,))
    assert marks.pack(time=times, naive="utc")["time"].tolist() == [NOON_NS]


def test_a_pandas_timestamp_keeps_its_nanoseconds():
    late = pd.Timestamp(NOON_NS + 789, tz="UTC")
    assert marks.pack(time=[late, late])["time"].tolist() == [NOON_NS + 789] * 2


def test_declared_dates_and_durations_are_stored_in_nanoseconds():
    rows = dated.pack(
        time=[1, 2],
        when=np.array(["1970-01-01T00:00:01", "1969-12-31T23:59:59"], dtype="M8[s]"),
        took=[dt.timedelta(microseconds=3), np.timedelta64(4, "ms")],
    )
    assert rows["when"].tolist() == [10**9, -(10**9)]
    assert rows["took"].tolist() == [3_000, 4_000_000]


def test_what_nanoseconds_cannot_hold_is_refused_with_its_row():
    when = np.array(["2026-01-01", "9999-01-01"], dtype="M8[s]")
    took = np.array([1000, 1500], dtype="m8[ps]")
    with pytest.raises(nvs.PackError) as caught:
        dated.pack(time=[1, 2], when=when, took=took)
    assert [(p.field, p.rows) for p in caught.value.problems] == [("when", (1,)), ("took", (1,))]
    far = [NOON, dt.datetime(9999, 1, 1, tzinfo=UTC)]
    assert fault(marks, time=far)[2] == (1,)


@pytest.mark.parametrize(
    "times",
    [
        [NOON, None],
        [NOON, pd.NaT],
        pd.Series([NOON, pd.NaT]),
        np.array(["2026-01-01", "NaT"], dtype="M8[ns]"),
    ],
    ids=["none", "NaT", "pandas", "numpy"],
)
def test_a_missing_date_is_refused(times):
    with pytest.raises(nvs.PackError) as caught:
        marks.pack(time=times, naive="utc")
    assert [(p.found, p.rows) for p in caught.value.problems] == [("values are missing", (1,))]


def test_dates_and_durations_are_not_taken_for_each_other_or_for_numbers():
    second = np.array([1], dtype="m8[s]")
    assert fault(marks, time=second)[1] == "durations stand where dates are expected"
    when = np.array([1], dtype="M8[s]")
    found = fault(dated, time=1, when=when, took=when)
    assert found[:2] == ("took", "dates stand where durations are expected")
    plain = nvs.counter_schema({"x": "i8"})
    found = "dates or durations stand in a field of plain numbers"
    assert fault(plain, x=second)[1] == found
    assert fault(plain, x=[dt.timedelta(1)])[1] == found


def test_float_timestamps_are_refused():
    assert fault(marks, time=[1.0, 2.0])[:2] == (
        "time",
        "float64 values stand where int64 is expected",
    )


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "2s", "10us"])
@given(counts=st.lists(st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-2000, 2000), max_size=5))
def test_durations_of_any_unit_are_exact_or_refused(unit, counts):
    step = {"2s": 2 * 10**9, "10us": 10**4, "ps": Fraction(1, 1000)}.get(unit) or (
        int(np.timedelta64(1, unit) / np.timedelta64(1, "ns"))
    )
    expected = [count * step for count in counts]
    bad = [row for row, ns in enumerate(expected) if ns % 1 or not -(2**63) < ns < 2**63]
    column = np.array(counts, dtype=np.int64).view(f"m8[{unit}]")
    if bad:
        with pytest.raises(nvs.PackError) as caught:
            dated.pack(time=0, when=0, took=column)
        assert caught.value.problems[0].rows == tuple(bad)
    else:
        assert dated.pack(time=0, when=0, took=column)["took"].tolist() == expected


def test_dates_in_months_and_years_are_days():
    months = np.array(["2024-03", "1969-12"], dtype="M8[M]")
    days = months.astype("M8[D]").astype(np.int64)
    rows = dated.pack(time=0, when=months, took=0)
    assert rows["when"].tolist() == (days * 86_400 * 10**9).tolist()
    assert fault(dated, time=0, when=np.array([-(2**62)], "M8[Y]"), took=0)[2] == (0,)
    assert "no fixed number" in fault(dated, time=0, when=0, took=np.array([1], "m8[M]"))[1]
