# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import nvtx_schema as nvs
import pytest
from fake_clock import FakeClock
from nvtx import CounterNoValueReason
from nvtx_torch_counters import (
    CounterSampler,
    FunctionProbe,
    LateRow,
    ProbeError,
    Samples,
    Stamped,
    StampedRows,
    Unavailable,
)
from nvtx_torch_counters._clock import RealtimeTie
from nvtx_torch_counters._ring import UNAVAILABLE
from nvtx_torch_counters._series import Reasons, Series
from nvtx_torch_counters.samples import samples_of

FIELDS = {"count": nvs.value(np.int64, unit="1"), "share": np.float64}


def answering(*answers: Any) -> Callable[[], Any]:
    """Return a function that gives these answers in turn, raising those that are errors."""
    left = iter(answers)

    def answer() -> Any:
        value = next(left)
        if isinstance(value, BaseException):
            raise value
        return value

    return answer


def recorded(*answers: Any, clock: FakeClock | None = None) -> tuple[Series, Samples]:
    clock = clock or FakeClock()
    series = Series(FunctionProbe("p", FIELDS, answering(*answers)), 64)
    tie = RealtimeTie.read(clock)
    series.open()
    for _ in answers:
        series.take(clock, tie)
        clock.now += 10
    return series, samples_of("p", series.schema, series.rows(), series.reasons.texts, tie)


def test_values_keep_their_type_time_and_error() -> None:
    clock = FakeClock()
    big = 2**62 + 1

    def read() -> tuple[int, float]:
        clock.now += 7
        return big, 0.5

    series = Series(FunctionProbe("p", FIELDS, read), 64)
    tie = RealtimeTie.read(clock)
    series.open()
    begin = clock.now
    series.take(clock, tie)
    samples = samples_of("p", series.schema, series.rows(), series.reasons.texts, tie)
    assert samples.values["count"].tolist() == [big]
    assert samples.monotonic.tolist() == [begin + 3]
    assert samples.error.tolist() == [4]
    assert samples.time.tolist() == [begin + 3 + clock.offset]
    assert (series.read_ns, series.slowest_ns) == (7, 7)


def test_reasons_mean_what_nvtx_means_by_them() -> None:
    _, samples = recorded(
        (5, 1.5),
        CounterNoValueReason.UNCHANGED,
        CounterNoValueReason.ZERO,
        CounterNoValueReason.UNCHANGED,
        CounterNoValueReason.UNAVAILABLE,
        CounterNoValueReason.UNCHANGED,
        (6, 2.5),
    )
    assert samples.values["count"].tolist() == [5, 5, 0, 0, 0, 0, 6]
    assert samples.valid["count"].tolist() == [True, True, True, True, False, True, True]
    assert samples.known.tolist() == samples.valid["count"].tolist()
    shares = samples.values["share"][samples.valid["share"]].tolist()
    assert shares == [1.5, 1.5, 0.0, 0.0, 0.0, 2.5]
    assert [why for why in samples.gap if why] == ["the probe has no value"]


def test_unchanged_after_a_gap_repeats_the_value_before_it() -> None:
    _, samples = recorded((5, 1.5), Unavailable("asleep"), CounterNoValueReason.UNCHANGED)
    assert samples.values["count"].tolist()[2] == 5
    assert samples.valid["count"].tolist() == [True, False, True]


def test_unchanged_before_any_value_is_unknown() -> None:
    _, samples = recorded(CounterNoValueReason.UNCHANGED, (1, 1.0))
    assert samples.valid["count"].tolist() == [False, True]
    assert samples.gap == ["unchanged, and the value before is not known", None]


def test_an_unknown_value_is_a_gap_with_a_reason_and_the_probe_goes_on() -> None:
    series, samples = recorded((1, 0.1), Unavailable("device asleep"), (2, 0.2))
    assert samples.gap == [None, "device asleep", None]
    assert samples.valid["count"].tolist() == [True, False, True]
    assert series.stopped is None


def test_a_long_gap_is_one_row_and_is_counted() -> None:
    asleep = [Unavailable("asleep")] * 50
    series, samples = recorded(
        (1, 0.1), *asleep, Unavailable("gone"), (2, 0.2), Unavailable("asleep")
    )
    assert samples.gap == [None, "asleep", "gone", None, "asleep"]
    assert series.gaps == 52
    assert series.reads == 54


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_every_width_are_kept_exactly_and_never_wrapped(dtype: str) -> None:
    limits = np.iinfo(dtype)
    answers = iter([(limits.min,), (limits.max,), (limits.max + 1,)])
    series = Series(FunctionProbe("p", {"n": dtype}, lambda: next(answers)), 64)
    clock = FakeClock()
    tie = RealtimeTie.read(clock)
    series.open()
    for _ in range(3):
        series.take(clock, tie)
    samples = samples_of("p", series.schema, series.rows(), series.reasons.texts, tie)
    assert samples.values["n"].dtype == np.dtype(dtype)
    assert samples.values["n"][samples.valid["n"]].tolist() == [limits.min, limits.max]
    assert "read() returned" in str(series.stopped)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_of_every_width_are_kept_and_reach_pandas(dtype: str) -> None:
    answers = iter([(0.5,), (None,), (-1.0,)])
    sampler = CounterSampler([FunctionProbe("p", {"x": dtype}, lambda: next(answers))])
    sampler.step()
    sampler.step()
    sampler.stop()
    samples = sampler.samples("p")
    assert samples.packed(slice(0, 3))["x"].dtype == np.dtype(dtype)
    assert sampler.to_frame()["p.x"].dropna().tolist() == [0.5, -1.0]


def test_an_unknown_float_is_nan_and_its_neighbour_stays() -> None:
    _, samples = recorded((1, None), (2, 0.5))
    assert samples.valid["share"].tolist() == [False, True]
    assert samples.valid["count"].tolist() == [True, True]
    assert math.isnan(samples.packed(slice(0, 1))["share"][0])


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((None, 1.0), "None only for a float field"),
        ((1,), "1 values for 2 fields"),
        ((2**63, 1.0), "count: int64"),
        ((1.5, 1.0), "count: int64"),
        (7, "read() returned 7"),
        ("ab", "read() returned 'ab'"),
    ],
)
def test_a_row_of_the_wrong_form_ends_the_probe_with_what_was_expected(
    answer: Any, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    series, samples = recorded((1, 0.1), answer)
    assert text in str(series.stopped)
    assert samples.valid["count"].tolist() == [True, False]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("error", [KeyError("lost"), SystemExit(3), ZeroDivisionError()])
def test_a_failing_probe_is_told_once_and_read_no_more(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    series, samples = recorded((1, 0.1), error, (2, 0.2), (3, 0.3))
    assert samples.gap == [None, f"stopped: {type(error).__name__}: {error}"]
    assert series.reads == 2
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert caplog.records[0].getMessage().startswith("probe 'p' stopped: ")


def test_stamped_rows_keep_their_own_times() -> None:
    clock = FakeClock()
    real = clock.realtime_ns()
    rows = StampedRows([Stamped(real - 300, 5, (1, 0.1)), Stamped(real - 200, 5, (2, 0.2))])
    _, samples = recorded(rows, clock=clock)
    assert samples.time.tolist() == [real - 300, real - 200]
    assert samples.error.tolist() == [5, 5]


def test_reasons_are_bounded() -> None:
    reasons = Reasons()
    numbers = [reasons.number(f"request {n} failed") for n in range(1_000)]
    assert len(reasons.texts) == 64
    assert numbers[:3] == [1, 2, 3]
    assert numbers[-1] == 0
    assert reasons.number("request 0 failed") == 1


@pytest.mark.parametrize(
    "schema",
    [
        nvs.mark_schema(message=8),
        nvs.counter_schema({"a": np.int64}, time=True),
        np.dtype([("a", np.int64)]),
    ],
)
def test_a_schema_that_cannot_be_sampled_is_refused(schema: Any) -> None:
    probe = FunctionProbe("p", {"a": np.int64}, lambda: (1,))
    probe.schema = schema
    with pytest.raises(ProbeError, match="'p'"):
        Series(probe, 64)


class Text(LateRow):
    def values(self) -> tuple[int]:
        made_out.append(self.raw)
        return (int(self.raw),)


made_out: list[bytes] = []


class Sensor:
    """A probe whose text is its reading."""

    name = "sensor"
    interval: float | None = None

    def __init__(self) -> None:
        self.schema = nvs.counter_schema({"n": np.int64})
        self.value = self.closed = 0

    def open(self) -> None:
        self.value = 0

    def read(self) -> Text:
        self.value += 1
        if self.value == 1_000:
            raise Unavailable("asleep")
        return Text(b"?" if self.value == 2_000 else b"%d" % self.value)

    def close(self) -> None:
        self.closed += 1


def sensed(reads: int) -> tuple[Sensor, Series, FakeClock]:
    made_out.clear()
    probe, clock = Sensor(), FakeClock()
    series = Series(probe, 4096)
    tie = RealtimeTie.read(clock)
    series.open()
    for _ in range(reads):
        series.take(clock, tie)
        clock.now += 10
    return probe, series, clock


def test_late_rows_are_made_out_in_bursts_and_before_anybody_looks() -> None:
    _, series, clock = sensed(63)
    assert (len(made_out), series.reads) == (0, 0)
    rows = series.rows()
    assert rows.columns[0].tolist() == list(range(1, 64))
    assert rows.time.tolist() == [clock.now - 10 * back for back in range(63, 0, -1)]
    assert (len(made_out), series.reads, series.written) == (63, 63, 63)
    sensed(64)
    assert len(made_out) == 64


def test_a_report_counts_late_rows_that_nobody_looked_at() -> None:
    sampler = CounterSampler([Sensor()], domain=None)
    for _ in range(5):
        sampler.step()
    (report,) = sampler.report().probes
    assert (report.reads, report.rows, report.reasons) == (5, 5, ())
    sampler.stop()
    assert sampler.samples("sensor").values["n"].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_gap_comes_after_the_late_rows_before_it() -> None:
    _, series, _ = sensed(1_001)
    assert len(made_out) == 999
    tail = series.rows(since=997)
    assert tail.state.tolist() == [0, 0, UNAVAILABLE, 0]
    assert tail.columns[0].tolist()[:2] == [998, 999]
    assert series.stopped is None


def test_a_late_row_that_cannot_be_made_out_ends_the_probe_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    probe, series, _ = sensed(2_040)
    assert series.written == 1_999 + 1  # the gap of the sleep was one, the end is another
    assert "read() returned Text(b'?')" in str(series.stopped)
    assert (probe.closed, len(caplog.records)) == (1, 1)


def test_rows_are_made_out_by_several_threads_at_once_in_order() -> None:
    probe, clock = Sensor(), FakeClock()
    probe.value = -(10**6)
    series = Series(probe, 65_536)
    tie = RealtimeTie.read(clock)
    series.stopped = None
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            series.settle()

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20_000):
            series.take(clock, tie)
    finally:
        done.set()
    for thread in threads:
        thread.join()
    first = 1 - 10**6
    assert series.rows().columns[0].tolist() == list(range(first, first + 20_000))
