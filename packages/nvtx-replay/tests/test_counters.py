# SPDX-License-Identifier: Apache-2.0
"""Counters: samples of tables and of single calls, gaps, units and groups."""

import math

import numpy as np
import nvtx
import pytest
from nvtx_replay import ConfigError, RowError, StreamError, TableError


def test_each_column_is_a_counter_with_its_unit(stream, recorded):
    table = {"time": [1, 2], "used": np.array([5, 6], np.uint32), "load": np.float32([0.5, 2])}
    assert stream.write_counters(table, units={"used": "bytes"}) == 4
    registered = recorded().members("CounterRegister")
    assert [(c.values["name"], c.values.get("unit")) for c in registered] == [
        ("used", "bytes"),
        ("load", None),
    ]
    assert recorded().samples == [
        ("used", 1, 5),
        ("used", 2, 6),
        ("load", 1, 0.5),
        ("load", 2, 2.0),
    ]


def test_missing_values_are_gaps_at_their_times(stream, recorded):
    table = {"time": [1, 2, 3, 4], "n": [7, None, None, 9], "x": [0.5, None, math.nan, 1]}
    stream.write_counters(table)
    found = recorded().samples
    assert found[:4] == [("n", 1, 7), ("n", 2, None), ("n", 3, None), ("n", 4, 9)]
    assert [time for _, time, _ in found[4:]] == [1, 2, 3, 4]
    np.testing.assert_equal([value for _, _, value in found[4:]], [0.5, np.nan, np.nan, 1])
    reasons = {call.values["reason"] for call in recorded().members("CounterNoValueWrite")}
    assert reasons == {nvtx.CounterNoValueReason.UNAVAILABLE.value}


def test_a_group_is_one_counter_with_a_field_a_column(stream, recorded):
    table = {"time": [1, 2], "a": [1, 2], "b": [1, None]}
    assert stream.write_counters(table, group="memory", units="bytes") == 4
    (counter,) = recorded().members("CounterRegister")
    assert counter.values["name"] == "memory"
    (first, second) = recorded().samples
    assert first == ("memory", 1, (1, 1.0))
    assert second[2][0] == 2
    assert math.isnan(second[2][1])


def test_a_group_refuses_gaps_in_integers_that_floats_cannot_hold(stream, recorded):
    table = {"time": [1, 2], "a": [2**53 + 1, None]}
    with pytest.raises(TableError, match="cannot hold 9007199254740993"):
        stream.write_counters(table, group="g")
    assert recorded().written == []


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"time": [1]}, "no columns of values"),
        ({"time": [1], "x": ["a"]}, "'x' holds text"),
        ({"time": [1], "x": [1j]}, "expected numbers"),
        ({"when": [1], "x": [1]}, "no column 'time'"),
    ],
)
def test_a_wrong_table_of_samples_never_reaches_the_backend(stream, recorded, table, told):
    with pytest.raises(TableError, match=told):
        stream.write_counters(table)
    assert recorded().written == []


def test_wrong_options_and_times_of_samples_are_refused(stream, recorded):
    with pytest.raises(ConfigError, match="'y'"):
        stream.write_counters({"time": [1], "x": [1]}, units={"y": "bytes"})
    with pytest.raises(RowError, match="row 0 "):
        stream.write_counters({"time": [1.5], "x": [1]})
    assert recorded().written == []


def test_one_name_keeps_its_type_and_unit(stream, recorded):
    stream.write_counters({"time": [1], "x": [1]})
    stream.write_counters({"time": [2], "x": [2]})
    for table, units in [({"time": [3], "x": [0.5]}, None), ({"time": [3], "x": [1]}, "bytes")]:
        with pytest.raises(TableError, match="'x' was written before as int64"):
            stream.write_counters(table, units=units)
    assert recorded().samples == [("x", 1, 1), ("x", 2, 2)]
    assert len(recorded().members("CounterRegister")) == 1


def test_counters_belong_to_a_scope_given_by_path(stream, recorded):
    stream.write_counters({"time": [1], "x": [1]}, scope="gpu[0]")
    (scope,) = recorded().members("ScopeRegister")
    (counter,) = recorded().members("CounterRegister")
    assert counter.values["scope"] == scope.values["id"]


def test_a_promise_refuses_counters_one_after_the_other(opened, recorded):
    table = {"time": [1, 2, 3], "a": [1, None, 2], "b": [1, 2, 3]}
    with opened() as session, session.stream("s", ordering="strict") as stream:
        with pytest.raises(StreamError, match="pass group="):
            stream.write_counters(table)
        stream.write_counters(table, values=["a"])
        stream.write_counters({"time": [4], "b": [3]})
    members = [c.member for c in recorded().calls if c.member.endswith("Write")]
    assert members == ["CounterBatchWrite", "CounterNoValueWrite", *["CounterBatchWrite"] * 2]


def test_raw_counters_take_samples_that_they_hold_exactly(stream, recorded):
    counter = stream.domain.get_counter("n", int)
    stream.write_counter_sample(counter, 1, 5)
    stream.write_counter_sample_no_value(counter, 2, nvtx.CounterNoValueReason.ZERO)
    stream.write_counter_batch(counter, [6, 7], timestamps=[3, 4])
    stream.write_counter_batch(counter, [], timestamps=[])
    stream.write_counter_batch(counter, np.uint8([8]), timestamps=iter([5]))
    assert [s[1:] for s in recorded().samples] == [(1, 5), (2, None), (3, 6), (4, 7), (5, 8)]


@pytest.mark.parametrize(
    ("values", "times", "error"),
    [
        ([1.5], [1], TableError),
        ([2**63], [1], TableError),
        ([None], [1], TableError),
        ([1], None, TableError),
        ([1], [1, 2], TableError),
        ([1], [1.5], RowError),
        ([1], [math.nan], RowError),
    ],
)
def test_raw_counters_refuse_what_they_cannot_hold(stream, recorded, values, times, error):
    counter = stream.domain.get_counter("n", int)
    with pytest.raises(error):
        stream.write_counter_batch(counter, values, timestamps=times)
    assert recorded().samples == []


def test_a_group_with_its_own_time_needs_no_timestamps(stream, recorded):
    import nvtx_schema as nvs

    schema = nvs.counter_schema({"a": np.int64}, time=True)
    counter = stream.domain.get_counter("g", schema.dtype)
    stream.write_counter_batch(counter, {"time": [2, 1], "a": [3, 4]})
    stream.write_counter_batch(counter, [(5, 6)])
    assert recorded().claims == [nvtx.BatchOrdering.UNSORTED, nvtx.BatchOrdering.SORTED]
    data = b"".join(call.payloads[0][1] for call in recorded().members("CounterBatchWrite"))
    assert np.frombuffer(data, "i8").tolist() == [2, 3, 1, 4, 5, 6]
