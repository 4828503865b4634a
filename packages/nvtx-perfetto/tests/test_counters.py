# SPDX-License-Identifier: Apache-2.0
"""Counters as they come through `nvtx.writer`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import nvtx
import nvtx.writer
from sessions import REALTIME, session
from traces import read

DELTA = nvtx.CounterSemantics(value_type=nvtx.CounterValueType.DELTA)
ZERO, UNCHANGED, UNAVAILABLE = (
    getattr(nvtx.CounterNoValueReason, name) for name in ("ZERO", "UNCHANGED", "UNAVAILABLE")
)


def test_differences_become_absolute_values_in_time_order(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        counter = begun.get_domain("dom").get_counter("c", int, semantics=DELTA)
        strict = nvtx.writer.StreamOrdering.STRICT
        options = {"domain": "dom", "time_domain_id": REALTIME, "ordering": strict}
        with begun.create_stream("main", **options) as main:
            for time, value in ((10, 1), (30, 4), (20, -2)):
                main.write_counter_sample(counter, time, value)
            main.write_counter_sample_no_value(counter, 40, ZERO)
    trace = read(tmp_path / "t")
    assert trace.series("c") == [(10, 1), (20, -1), (30, 3), (40, 3)]
    assert trace.summary["order_breaks"] == 1


def test_one_counter_of_differences_adds_up_over_streams(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        domain = begun.get_domain("dom")
        scope = domain.get_scope("gpu[0]")
        counter = domain.get_counter("c", int, semantics=DELTA, scope=scope)
        options = {"domain": "dom", "time_domain_id": REALTIME}
        with (
            begun.create_stream("a", **options) as a,
            begun.create_stream("b", **options) as b,
        ):
            for i in range(4):
                (a if i % 2 else b).write_counter_sample(counter, 10 - i, 1)
    trace = read(tmp_path / "t")
    assert trace.series("c") == [(7, 1), (8, 2), (9, 3), (10, 4)]
    (track,) = (uuid for uuid, each in trace.tracks.items() if each.name == "c")
    assert trace.path(track) == "job/gpu[0]/c"


def test_one_counter_of_a_scope_is_one_track_whoever_writes_it(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        mine, foreign = (
            domain.get_counter("c", int, scope=domain.get_scope("gpu[0]"))
            for domain in map(begun.get_domain, ("dom", "other"))
        )
        a, b, c = (
            begun.create_stream(name, domain=domain, time_domain_id=REALTIME)
            for name, domain in (("a", "dom"), ("b", "dom"), ("third", "other"))
        )
        with a, b, c:
            a.write_counter_sample(mine, 1, 10)
            b.write_counter_sample(mine, 2, 20)
            a.write_counter_sample(mine, 3, 30)
            c.write_counter_sample(foreign, 4, 40)
    trace = read(tmp_path / "t")
    named = [uuid for uuid, each in trace.tracks.items() if each.name == "c"]
    series = [sorted((e.time, e.value) for e in trace.events if e.track == uuid) for uuid in named]
    assert sorted(series) == [[(1, 10), (2, 20), (3, 30)], [(4, 40)]]


def test_samples_without_a_value(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        counter = begun.get_domain("dom").get_counter("c", float)
        with begun.create_stream("main", domain="dom", time_domain_id=REALTIME) as main:
            main.write_counter_sample(counter, 1, 2.5)
            for time, reason in ((2, UNCHANGED), (3, UNAVAILABLE), (4, ZERO)):
                main.write_counter_sample_no_value(counter, time, reason)
    values = [value for _, value in read(tmp_path / "t").series("c")]
    assert values[:2] == [2.5, 2.5]
    assert math.isnan(values[2])
    assert values[3] == 0


def test_units_scales_and_limits_of_a_group(tmp_path: Path) -> None:
    kilo = nvtx.CounterSemantics(unit="bytes", unit_scale_numerator=1024, min=0, max=9)
    half = nvtx.CounterSemantics(unit="s", unit_scale_denominator=2)
    layout = np.dtype(
        [
            ("used", nvtx.numpy_dtype(np.int64, counter_semantics=kilo)),
            ("busy", nvtx.numpy_dtype(np.float64, counter_semantics=half)),
        ]
    )
    with session(tmp_path / "t") as begun:
        counter = begun.get_domain("dom").get_counter("mem", layout)
        with begun.create_stream("main", domain="dom", time_domain_id=REALTIME) as main:
            main.write_counter_sample(counter, 5, (7, 3.0))
    trace = read(tmp_path / "t")
    by_name = {track.name: track for track in trace.tracks.values()}
    assert trace.series("mem.used") == [(5, 7)]
    assert trace.series("mem.busy") == [(5, 1.5)]
    assert by_name["mem.used"].counter.unit_name == "bytes"
    assert by_name["mem.used"].counter.unit_multiplier == 1024
    assert "min 0, max 9" in by_name["mem.used"].description
    assert by_name["mem.busy"].counter.unit_name == "s"


def test_values_beyond_doubles_are_exact_in_the_file_and_counted(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        counter = begun.get_domain("dom").get_counter("c", int)
        with begun.create_stream("main", domain="dom", time_domain_id=REALTIME) as main:
            main.write_counter_sample(counter, 1, 2**53 + 1)
            main.write_counter_sample(counter, 2, -5)
    trace = read(tmp_path / "t")
    assert trace.series("c") == [(1, 2**53 + 1), (2, -5)]
    assert trace.summary["rounded_counters"] == 1
