# SPDX-License-Identifier: Apache-2.0
"""Rows of a schema: one by one, in batches, and as arrays."""

import math

import numpy as np
import nvtx_schema as nvs
import pytest
from nvtx import BatchOrdering, EventKind
from nvtx_replay import ConfigError, RowError, TableError

WORK = nvs.range_schema("pushpop", message=8, fields={"n": np.int32})


def test_rows_appended_one_by_one_travel_together(stream, recorded):
    with stream.batch(WORK, rows=2) as batch:
        for number in range(5):
            batch.append(start=number, end=9, message=f"m{number}", n=number)
    assert [(e["begin"], e["message"], e["n"]) for e in recorded().events] == [
        (number, f"m{number}", number) for number in range(5)
    ]
    assert len(recorded().members("EventBatchWrite")) == 3


def test_an_empty_batch_writes_nothing(stream, recorded):
    with stream.batch(WORK):
        pass
    stream.write_event_batch(WORK, [])
    stream.write_event_batch(WORK, np.empty(0, WORK.dtype))
    assert recorded().written == []


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("start", 1.5, "row 3 holds the float 1.5"),
        ("end", math.nan, "row 3 has no value in column 'end'"),
        ("end", -1, "row 3 ends at -1, before it begins at 3"),
        ("message", "nine char", "row 3 has 9 characters in field 'message', which holds 8"),
    ],
)
def test_a_wrong_row_is_named_by_its_number_in_the_whole_batch(stream, field, value, told):
    batch = stream.batch(WORK, rows=2)  # the fault is in the second batch that is sent
    rows = [{"start": n, "end": 9, "message": "", "n": 0} for n in range(4)]
    rows[3][field] = value
    for row in rows[:3]:
        batch.append(**row)
    with pytest.raises(RowError, match=told) as caught:
        batch.append(**rows[3])
    assert caught.value.rows == (3,)


@pytest.mark.parametrize("value", ["x", 1.5, 2**31, None])
def test_a_value_that_does_not_fit_its_field_never_reaches_the_backend(stream, recorded, value):
    with pytest.raises(TableError, match="'n'"):
        stream.write_event_batch(WORK, [(1, 2, "a", 3), (1, 2, "a", value)])
    with pytest.raises(TableError, match="'n'"):
        stream.write_event(WORK, (1, 2, "a", value))
    assert recorded().written == []


@pytest.mark.parametrize("row", [{"start": 1}, {"start": 1, "end": 2, "message": "", "m": 1}])
def test_fields_missing_or_unknown_are_named_at_once(stream, row):
    with pytest.raises(TableError, match="'n'"):
        stream.batch(WORK).append(**row)


def test_long_text_is_cut_and_late_rows_are_kept_where_repair_is_asked_for(opened, recorded):
    with opened(on_error="repair") as session, session.stream("s") as stream:
        with stream.batch(WORK) as batch:
            batch.append(start=5, end=4, message="123456789", n=1)
            batch.append(start=1.5, end=3, message="", n=2)
        stream.write_event(WORK, (1, 2, "123456789", 3))
    rows = [(e["begin"], e["end"], e["message"], e["n"]) for e in recorded().events]
    assert sorted(rows) == [(1, 2, "12345678", 3), (2, 3, "", 2), (5, 5, "12345678", 1)]
    assert session.report.repaired == {
        "end_before_begin": 1,
        "float_timestamp": 1,
        "text_too_long": 2,
    }


def test_order_is_looked_at_and_a_wrong_promise_is_told(stream, recorded):
    rows = [(1, 9, "", 0), (3, 9, "", 0), (2, 9, "", 0)]
    stream.write_event_batch(WORK, rows)
    stream.write_event_batch(WORK, rows[:2])
    stream.write_event_batch(WORK, rows, ordering=BatchOrdering.PARTIALLY_SORTED)
    with pytest.raises(RowError, match="row 2 has the time 2") as caught:
        stream.write_event_batch(WORK, rows, ordering=BatchOrdering.SORTED)
    assert caught.value.kind == "broken_order"
    assert recorded().claims == [
        BatchOrdering.UNSORTED,
        BatchOrdering.SORTED,
        BatchOrdering.PARTIALLY_SORTED,
    ]


def test_an_array_of_the_schema_is_checked_too(stream, recorded):
    rows = WORK.pack(start=[1, 2], end=[3, 4], message="a", n=[5, 6])
    stream.write_event_batch(WORK, rows)
    rows["end"][1] = 0
    with pytest.raises(RowError, match="row 1 ends at 0, before it begins at 2"):
        stream.write_event_batch(WORK, rows)
    assert [e["n"] for e in recorded().events] == [5, 6]


def test_columns_in_another_order_or_of_other_types_are_matched_by_name(stream, recorded):
    rows = np.array([("a", 7, 1, 2)], "U2,u1,i4,i4")
    rows.dtype.names = ("message", "n", "start", "end")
    stream.write_event_batch(WORK, rows)
    raw = stream.domain.get_schema(WORK.dtype, kind=EventKind.RANGE_PUSHPOP)
    stream.write_event_batch(raw, {"message": ["b"], "n": [8], "start": [1], "end": [2]})
    assert [(e["begin"], e["message"], e["n"]) for e in recorded().events] == [
        (1, "a", 7),
        (1, "b", 8),
    ]


def test_a_raw_schema_with_padding_keeps_its_layout(stream, recorded):
    dtype = np.dtype(
        {"names": ["t", "n"], "formats": [nvs.mark_time().annotated, "i2"], "offsets": [8, 2]}
    )
    raw = stream.domain.get_schema(dtype, kind=EventKind.MARK)
    stream.write_event_batch(raw, [(5, 6)])
    assert recorded().events == [{"kind": "mark", "begin": 5, "n": 6}]


def test_registered_text_and_categories_may_be_given_as_text(stream, recorded):
    fields = {"what": nvs.registered_string(), "kind": nvs.category()}
    schema = nvs.mark_schema(message="registered", fields=fields)
    with stream.batch(schema) as batch:
        batch.append(time=1, message="m", what="w", kind="c")
    stream.write_event(nvs.mark_schema(message="registered"), (2, "m"))
    by_time = sorted(recorded().events, key=lambda row: row["begin"])
    assert [(e["message"], e.get("what"), e.get("category")) for e in by_time] == [
        ("m", "w", "c"),
        ("m", None, None),
    ]
    stream._strings.limit = 2
    with pytest.raises(TableError, match="2 registered strings already"):
        stream.write_event(nvs.mark_schema(message="registered"), (2, "one more"))


def test_halves_go_one_by_one_and_are_paired(stream, recorded):
    push, pop = nvs.half_schema("push", message=8), nvs.half_schema("pop")
    start, end = nvs.half_schema("start", message=8), nvs.half_schema("end")
    with stream.batch(push) as pushes, stream.batch(pop) as pops:
        pushes.append(time=1, message="a")
        pops.append(time=2)
        with pytest.raises(RowError, match="without an open range"):
            pops.append(time=3)
    stream.write_event(start, {"time": 1, "range_id": 5, "message": "b"})
    stream.write_event(end, (4, 5))
    with pytest.raises(TableError, match="one by one"):
        stream.write_event_batch(push, [(1, "a")])
    assert [e["kind"] for e in recorded().events] == ["push", "pop", "start", "end"]
    assert len(recorded().members("EventWrite")) == 4


def test_halves_pair_within_their_scope(opened, recorded):
    scope = {"where": nvs.scope_id()}
    push, pop = nvs.half_schema("push", fields=scope), nvs.half_schema("pop", fields=scope)
    with opened(on_error="repair") as session, session.stream("s") as stream:
        one, two = (stream.domain.get_scope(path) for path in ("one", "two"))
        stream.write_event(push, (1, "a", one))
        stream.write_event(pop, (2, two))
    assert [(e["kind"], e["where"]) for e in recorded().events[:1]] == [("push", one.scope_id)]
    assert recorded().events[1]["scope"] == one.scope_id
    assert session.report.as_dict() == {
        "skipped": {"unmatched_pop": 1},
        "repaired": {"range_left_open": 1},
    }


def test_wrong_batches_are_refused(stream):
    with pytest.raises(ConfigError, match="at least 1"):
        stream.batch(WORK, rows=0)
    with pytest.raises(TypeError, match="nvtx_schema"):
        stream.write_event_batch(WORK.dtype, [])
    with pytest.raises(TableError, match="2 values"):
        stream.write_event_batch(WORK, [(1, 2)])
    with pytest.raises(TypeError, match="BatchOrdering"):
        stream.write_event_batch(WORK, [(1, 2, "", 0)], ordering="sorted")


def test_rows_of_a_batch_that_nobody_closed_are_written_when_the_stream_closes(opened, recorded):
    with opened() as session:
        with session.stream("s") as stream:
            stream.batch(WORK).append(start=1, end=2, message="a", n=3)
        other = session.stream("t")
        other.open()
        other.batch(WORK).append(start=4, end=5, message="b", n=6)
    assert [row["begin"] for row in recorded().events] == [1, 4]


def test_rows_that_wait_are_written_when_an_exception_ends_the_block(opened, recorded):
    session = opened()

    def fail():
        with session, session.stream("s") as stream, stream.batch(WORK) as batch:
            batch.append(start=1, end=2, message="a", n=3)
            stream.batch(WORK).append(start=2, end=1, message="a", n=3)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert [row["begin"] for row in recorded().events] == [1]
    assert session.report.skipped == {"batch_not_written": 1}
