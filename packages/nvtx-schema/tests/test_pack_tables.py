# SPDX-License-Identifier: Apache-2.0
"""Packing whole tables: every kind, what is missing or too much, order, and no copy."""

import numpy as np
import nvtx_schema as nvs
import pandas as pd
import pytest

work = nvs.range_schema("startend", message=8, fields={"items": np.int32})
COLUMNS = {"start": [10, 20], "end": [15, 20], "message": ["load", "run"], "items": [3, 4]}
ROWS = [(10, 15, "load", 3), (20, 20, "run", 4)]


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def records(columns):
    layout = [("items", "i8"), ("message", "U12"), ("start", "u8"), ("end", "i8")]
    return np.array(list(zip(*(columns[n] for n, _ in layout), strict=True)), dtype=layout)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, arrow, polars, records])
def test_any_table_gives_the_same_rows(make):
    rows = work.pack(make(COLUMNS))
    assert rows.tolist() == ROWS
    assert rows.dtype.fields["start"][0].metadata == work.dtype.fields["start"][0].metadata


@pytest.mark.parametrize("make", [pd.DataFrame, arrow, polars])
def test_dictionary_columns_and_missing_values(make):
    table = make(COLUMNS)
    if isinstance(table, pd.DataFrame):
        table["message"] = table["message"].astype("category")
        gap = table.assign(items=pd.array([3, None], dtype="Int32"))
    elif hasattr(table, "with_columns"):
        table = table.with_columns(table["message"].cast(__import__("polars").Categorical))
        gap = table.with_columns(table["items"].replace(4, None))
    else:
        table = table.set_column(2, "message", table["message"].dictionary_encode())
        gap = table.set_column(3, "items", [[3, None]])
    assert work.pack(table).tolist() == ROWS
    with pytest.raises(nvs.PackError) as caught:
        work.pack(gap)
    assert [(p.field, p.found, p.rows) for p in caught.value.problems] == [
        ("items", "values are missing", (1,))
    ]


def test_nullable_columns_without_gaps_are_numbers():
    table = pd.DataFrame(COLUMNS).convert_dtypes()
    assert work.pack(table).tolist() == ROWS


def test_masked_rows_are_missing():
    items = np.ma.masked_array([3, 4], mask=[False, True])
    with pytest.raises(nvs.PackError, match=r"field 'items': values are missing \(row 1\)"):
        work.pack(COLUMNS | {"items": items})


def test_one_value_stands_for_all_rows_and_alone_makes_one_row():
    rows = work.pack(COLUMNS | {"message": "same", "items": 7})
    assert rows.tolist() == [(10, 15, "same", 7), (20, 20, "same", 7)]
    assert work.pack(start=1, end=2, message="one", items=3).tolist() == [(1, 2, "one", 3)]


def test_no_rows_are_no_rows():
    rows = work.pack(start=[], end=[], message=[], items=[])
    assert rows.shape == (0,)
    assert rows.dtype == work.dtype


def test_missing_unknown_doubled_and_uneven_columns_are_told_together():
    with pytest.raises(nvs.PackError) as caught:
        work.pack({"start": [1, 2], "items": [1, 2, 3], "extra": 1}, start=[1, 2], end=[2, 3])
    assert [(p.field, p.found) for p in caught.value.problems] == [
        ("extra", "the column is not in the schema (start, end, message, items)"),
        ("message", "the column is missing"),
        ("start", "the column is in the table and also passed by name"),
        (None, "the columns differ in length (start 2, end 2, items 3)"),
    ]


def test_ranges_that_end_early_and_rows_out_of_order_are_refused():
    with pytest.raises(nvs.PackError) as caught:
        work.pack(start=[5, 9, 7, 8], end=[6, 8, 8, 9], message="x", items=1)
    assert [(p.field, p.rows) for p in caught.value.problems] == [("end", (1,)), ("start", (2,))]
    assert str(caught.value.problems[1]).startswith("field 'start': rows are earlier than the row")


def test_order_is_relaxed_by_name():
    shuffled = {"start": [7, 5, 7], "end": [8, 9, 7], "message": ["b", "a", "c"], "items": 1}
    assert work.pack(shuffled, order="any")["message"].tolist() == ["b", "a", "c"]
    assert work.pack(shuffled, order="sort")["message"].tolist() == ["a", "b", "c"]


def test_unsigned_and_signed_times_are_compared_exactly():
    fields = {"begin": nvs.range_begin(), "end": nvs.Field(np.dtype("u8"), role=END)}
    schema = nvs.Schema("pushpop", fields)
    assert schema.pack(begin=[-5], end=[2**64 - 1])["end"].tolist() == [2**64 - 1]
    with pytest.raises(nvs.PackError, match="end before they begin"):
        schema.pack(begin=[2**63 - 1], end=[2**63 - 2])


END = nvs.range_end().role


def test_rows_in_the_same_layout_are_viewed_not_copied():
    plain = np.array(
        ROWS, dtype=[("start", "i8"), ("end", "i8"), ("message", "U8"), ("items", "i4")]
    )
    rows = work.pack(plain)
    assert np.shares_memory(rows, plain)
    assert rows.dtype.fields["end"][0].metadata == work.dtype.fields["end"][0].metadata
    plain["end"][1] = 0
    with pytest.raises(nvs.PackError, match=r"end before they begin \(row 1\)"):
        work.pack(plain)


def test_sorting_a_view_leaves_the_table_alone():
    plain = np.array([(2, 3, "b", 1), (1, 2, "a", 1)], dtype=work.dtype)
    assert work.pack(plain, order="sort")["message"].tolist() == ["a", "b"]
    assert plain["message"].tolist() == ["b", "a"]


def test_padding_is_zeroed():
    schema = nvs.counter_schema({"a": "i1", "b": "i8"}, align=True)
    assert schema.pack(a=[-1], b=[-1]).tobytes() == b"\xff" + bytes(7) + b"\xff" * 8


def test_what_is_no_table_or_no_column_is_named():
    with pytest.raises(nvs.PackError, match="list is no table"):
        work.pack([1, 2])
    with pytest.raises(nvs.PackError, match="field 'items': object is no column"):
        work.pack(COLUMNS | {"items": object()})
    with pytest.raises(nvs.PackError, match="two columns named 'start'"):
        work.pack(pd.DataFrame([[1, 2]], columns=["start", "start"]))


def test_a_field_named_like_an_option_is_passed_in_a_dict():
    schema = nvs.counter_schema({"order": "i8"})
    assert schema.pack({"order": [3]})["order"].tolist() == [3]
    with pytest.raises(nvs.PackError, match="order= is an option of pack"):
        schema.pack(order=[3])


def test_structures_need_their_members():
    shape = np.dtype([("rows", "i4"), ("exact", "?")])
    schema = nvs.mark_schema(message=None, fields={"shape": shape})
    given = np.array([(3, True), (4, False)], dtype=[("exact", "?"), ("rows", "i8")][::-1])
    assert schema.pack(time=[1, 2], shape=given)["shape"].tolist() == [(3, 1), (4, 0)]
    given["rows"][1] = 2**40
    with pytest.raises(nvs.PackError, match=r"in 'rows', values lie outside int32.*\(row 1\)"):
        schema.pack(time=[1, 2], shape=given)
    with pytest.raises(nvs.PackError, match="members \\['a'\\], not \\['exact', 'rows'\\]"):
        schema.pack(time=[1], shape=np.zeros(1, dtype=[("a", "i4")]))
    with pytest.raises(nvs.PackError, match="list stands where structures are expected"):
        schema.pack(time=[1], shape=[(1, True)])


def test_one_value_for_many_rows_is_checked_against_each():
    columns = {"start": [1, 5, 9], "message": "x", "items": 1}
    assert work.pack(columns, end=9)["end"].tolist() == [9, 9, 9]
    with pytest.raises(nvs.PackError) as caught:
        work.pack(columns | {"items": 2**40}, end=6)
    assert [(p.field, p.rows) for p in caught.value.problems] == [("items", ()), ("end", (2,))]
    assert work.pack(columns | {"start": []}, end=9).shape == (0,)


def test_one_time_for_all_rows_is_in_order():
    schema = nvs.mark_schema(message=None, fields={"x": "i8"})
    assert schema.pack(time=3, x=[2, 1], order="sort").tolist() == [(3, 2), (3, 1)]
