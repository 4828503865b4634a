# SPDX-License-Identifier: Apache-2.0
"""Tables of ranges and marks: what arrives, row by row."""

import numpy as np
import pytest
from nvtx import BatchOrdering
from nvtx_replay import ConfigError, RowError, TableError

KINDS = ["pushpop", "startend"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_ranges_arrives_with_all_its_columns(opened, recorded, kind):
    table = {
        "start": [10, 20, 30],
        "end": [15, 25, 30],
        "message": ["GET", "PUT", "GET"],
        "bytes": np.array([1, 2, 3], dtype=np.uint16),
        "ratio": [0.5, float("nan"), 2],
        "ok": [True, False, True],
    }
    with opened() as session, session.stream("s") as stream:
        assert stream.write_ranges(table, kind=kind) == 3
    rows = sorted(recorded().events, key=lambda row: row["begin"])
    assert [(r["kind"], r["begin"], r["end"], r["message"]) for r in rows] == [
        (kind, 10, 15, "GET"),
        (kind, 20, 25, "PUT"),
        (kind, 30, 30, "GET"),
    ]
    assert [(r["bytes"], r["ok"]) for r in rows] == [(1, 1), (2, 0), (3, 1)]
    assert rows[0]["ratio"] == 0.5
    assert np.isnan(rows[1]["ratio"])


def test_columns_are_chosen_by_name(stream, recorded):
    table = {
        "ts": [5, 1],
        "dur": [2, 3],
        "end": [99, 98],
        "what": ["b", "a"],
        "kind": ["io", ""],
        "tint": ["#00FF00", "#8000FF00"],
        "left out": [0, 0],
    }
    parts = {"start": "ts", "duration": "dur", "message": "what", "category": "kind"}
    stream.write_ranges(table, **parts, color="tint", payload=["end"])
    rows = sorted(recorded().events, key=lambda row: row["begin"])
    assert [(r["begin"], r["message"], r["category"], r["color"]) for r in rows] == [
        (1, "a", 0, 0x8000FF00),
        (5, "b", "io", 0xFF00FF00),
    ]
    (schema,) = recorded().members("SchemaRegister")
    assert [(entry[0], entry[4]) for entry in schema.entries] == [
        (1 << 11 | 1 << 12, "start"),
        (1 << 11 | 2 << 12, "end_"),  # the payload has the name "end"
        (1 << 10, "message"),
        (0, "category"),
        (0, "color"),
        (0, "end"),
    ]


def test_a_table_of_marks_arrives(opened, recorded):
    table = {"time": [3, 1], "message": ["x", "x"], "n": [-1, 2]}
    with opened() as session, session.stream("s") as stream:
        assert stream.write_marks(table, category=7, color=0xFF0000FF) == 2
    assert recorded().events == [
        {"kind": "mark", "begin": t, "message": "x", "category": 7, "color": 0xFF0000FF, "n": n}
        for t, n in [(3, -1), (1, 2)]
    ]
    assert recorded().strings == ["x"]


def test_order_is_claimed_only_where_it_is_kept(opened, recorded):
    with opened() as session, session.stream("s") as stream:
        stream.write_ranges({"start": [1, 1, 2], "end": [9, 5, 3]}, message=None)
        stream.write_ranges({"start": [1, 3, 2], "end": [9, 5, 3]}, message=None)
        stream.write_marks({"time": [2]}, message=None)
    sorted_, not_sorted = BatchOrdering.SORTED, BatchOrdering.UNSORTED
    assert recorded().claims == [sorted_, not_sorted, sorted_]


def test_an_empty_table_writes_nothing(opened, recorded):
    with opened() as session, session.stream("s") as stream:
        assert stream.write_ranges({"start": [], "end": [], "message": []}) == 0
        assert stream.write_marks({"time": np.array([], np.int64)}, message=None) == 0
    assert recorded().written == []


@pytest.mark.parametrize(
    ("column", "values", "fault"),
    [
        ("start", [1, 2.5, 3], (1, "float_timestamp")),
        ("start", [1.0, 2.0, 3.0], (0, "float_timestamp")),
        ("start", [1, None, 3], (1, "missing_timestamp")),
        ("end", [9, 9, float("nan")], (2, "missing_timestamp")),
        ("end", [9, 9, float("inf")], (2, "missing_timestamp")),
        ("end", [9, 2**63, 9], (1, "timestamp_out_of_range")),
        ("end", [9, 9, 2**70], (2, "timestamp_out_of_range")),
        ("start", [-(2**63) - 1, 2, 3], (0, "timestamp_out_of_range")),
        ("end", [9, 1, 2], (1, "end_before_begin")),
    ],
)
def test_a_wrong_time_is_named_by_row_and_nothing_is_written(
    stream, recorded, column, values, fault
):
    row, kind = fault
    table = {"start": [1, 2, 3], "end": [9, 9, 9], "message": ["a", "a", "a"], column: values}
    with pytest.raises(RowError, match=f"row {row} ") as caught:
        stream.write_ranges(table, category=1)
    assert caught.value.kind == kind
    assert caught.value.rows[0] == row
    assert recorded().written == []


@pytest.mark.parametrize(
    ("written", "skipped", "repaired"),
    [
        (
            [(1, 9)],
            {"float_timestamp": 1, "missing_timestamp": 1, "end_before_begin": 2},
            {},
        ),
        (
            [(1, 9), (2, 9), (4, 4), (5, 5)],
            {"missing_timestamp": 1},
            {"float_timestamp": 1, "end_before_begin": 2},
        ),
    ],
)  # fmt: skip
def test_wrong_rows_are_skipped_or_repaired_and_counted(
    opened, recorded, written, skipped, repaired
):
    way = "repair" if repaired else "skip"
    table = {"start": [1, 2.5, float("nan"), 4, 5], "end": [9, 9, 9, 1, 0]}
    with opened() as session, session.stream("s", on_error=way) as stream:
        assert stream.write_ranges(table, message=None) == len(written)
    assert [(row["begin"], row["end"]) for row in recorded().events] == written
    assert session.report.as_dict() == {"skipped": skipped, "repaired": repaired}


def test_durations_are_checked_like_ends(opened, recorded):
    table = {"start": [1, 2, 2**62], "dur": [5, -1, 2**62]}
    with opened(on_error="skip") as session, session.stream("s") as stream:
        stream.write_ranges(table, duration="dur", message=None)
    assert [(row["begin"], row["end"]) for row in recorded().events] == [(1, 6)]
    assert session.report.skipped == {"end_before_begin": 1, "timestamp_out_of_range": 1}


@pytest.mark.parametrize(
    ("table", "options", "told"),
    [
        ({"start": [1], "stop": [2]}, {"message": None}, "no column 'end' for end"),
        ({"start": [1], "end": [2]}, {}, "no column 'message' for message"),
        ({"start": [1], "end": [2, 3]}, {"message": None}, "differ in length"),
        ({"start": ["1"], "end": [2]}, {"message": None}, "'start' holds text"),
        ({"start": [True], "end": [2]}, {"message": None}, "dtype bool"),
        ({"start": [1], "end": [2], "message": [3]}, {}, "expected text for messages"),
        ({"start": [1], "end": [2], "x": [{}]}, {"message": None}, "'x' holds values of sev"),
        ({"start": [1], "end": [2], "x": [1j]}, {"message": None}, "'x'"),
        ({"start": [1, 2], "end": [2, 3], "x": [1, "a"]}, {"message": None}, "'x' holds values"),
        ({"start": [1], "end": [2], "a\0b": [1]}, {"message": None}, "NUL"),
        ({"start": [1], "end": [2], "c": [-1]}, {"message": None, "category": "c"}, "'category'"),
        ({"start": [1], "end": [2], "c": ["red"]}, {"message": None, "color": "c"}, "no color"),
        ({"start": [1], "end": [2], 7: [1]}, {"message": None}, "column name 7"),
        ({"start": 1, "end": [2]}, {"message": None}, "type int"),
        ([1, 2], {}, "type list; expected a dict"),
        (np.zeros((2, 2)), {}, "expected a one-dimensional array with named fields"),
    ],
)
def test_a_wrong_column_never_reaches_the_backend(stream, recorded, table, options, told):
    with pytest.raises(TableError, match=told):
        stream.write_ranges(table, **options)
    assert recorded().written == []


def test_a_fault_in_the_last_layout_leaves_nothing_of_the_others_behind(stream, recorded):
    table = {
        "start": [1, 2, 3],
        "end": [2, 3, 4],
        "message": ["same", "same", "rare"],
        "x": [None, None, {}],
    }
    with pytest.raises(TableError, match="'x' holds values"):
        stream.write_ranges(table)
    assert recorded().written == []


@pytest.mark.parametrize("options", [{"kind": "push"}, {"payload": "all"}, {"color": -1}])
def test_an_unknown_option_is_refused(opened, options):
    table = {"start": [1], "end": [2], "message": [""]}
    with opened() as session, session.stream("s") as stream, pytest.raises(ConfigError):
        stream.write_ranges(table, **options)


def test_a_missing_value_leaves_its_field_out(opened, recorded):
    table = {
        "time": [1, 2, 3],
        "n": [1, None, 3],
        "t": [None, None, "x"],
        "message": [None, "", "m"],
    }
    with opened() as session, session.stream("s") as stream:
        stream.write_marks(table)
    rows = sorted(recorded().events, key=lambda row: row["begin"])
    assert rows == [
        {"kind": "mark", "begin": 1, "message": "", "n": 1},
        {"kind": "mark", "begin": 2, "message": ""},
        {"kind": "mark", "begin": 3, "message": "m", "n": 3, "t": "x"},
    ]


def test_arrays_in_a_column_become_array_fields(opened, recorded):
    table = {"time": [1, 2], "xyz": np.arange(6, dtype=np.int32).reshape(2, 3)}
    with opened() as session, session.stream("s") as stream:
        stream.write_marks(table, message=None)
    assert [row["xyz"] for row in recorded().events] == [[0, 1, 2], [3, 4, 5]]


def test_a_promise_about_order_holds_across_the_layouts_of_a_table(opened, recorded):
    table = {"time": [1, 2, 3, 4], "n": [1, None, 3, None]}
    with opened() as session, session.stream("s", ordering="strict") as stream:
        stream.write_marks(table, message=None)
        with pytest.raises(RowError, match="row 1 has the time 3"):
            stream.write_marks({"time": [5, 3]}, message=None)
    assert [row["begin"] for row in recorded().events] == [1, 2, 3, 4]
