# SPDX-License-Identifier: Apache-2.0
"""Columns of pandas, Arrow and Polars: their own types, dictionaries, zones and gaps."""

import datetime as dt
import decimal

import numpy as np
import nvtx_schema as nvs
import pandas as pd
import pytest

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.timezone.utc)
LOCAL = NOON.replace(tzinfo=None)
NOON_NS = 1_772_366_400_000_000_000


def pack(field, column, **options):
    schema = nvs.mark_schema(message=None, fields={"x": field})
    return schema.pack(time=0, x=column, **options)["x"].tolist()


def fault(field, column):
    with pytest.raises(nvs.PackError) as caught:
        pack(field, column)
    (problem,) = caught.value.problems
    return problem.found, problem.rows


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "b", "a"], dtype="string"),
        pd.Series(["a", "b", "a"], dtype=pd.ArrowDtype(pa.string())),
        pd.Categorical(["a", "b", "a"]),
        pd.CategoricalIndex(["a", "b", "a"]),
        pa.array(["a", "b", "a"], pa.large_string()),
        pa.chunked_array([["a"], ["b", "a"]]),
        pa.chunked_array([pa.array(["a"]).dictionary_encode(), pa.array(["b", "a"])
                          .dictionary_encode()]),
        pl.Series(["a", "b", "a"]),
        pl.Series(["a", "b", "a"], dtype=pl.Enum(["b", "a"])),
        pl.Series(["a", "b", "a"], dtype=pl.Categorical),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)  # fmt: skip
def test_text_columns(column):
    assert pack("U1", column) == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("field", "column", "stored"),
    [
        ("i8", pd.Categorical([5, 7, 5]), [5, 7, 5]),
        ("i8", pd.Series([1, 2], dtype="Int16"), [1, 2]),
        ("i8", pd.Series(pd.arrays.SparseArray([0, 1])), [0, 1]),
        (bool, pa.array([True, False]), [1, 0]),
        (bool, pd.Series([True, False], dtype="boolean"), [1, 0]),
        ("u8", pl.Series([2**64 - 1], dtype=pl.UInt64), [2**64 - 1]),
        ("i8", pl.Series([2**62], dtype=pl.Int128), [2**62]),
        ("f8", pa.array([np.float16(1.5)]), [1.5]),
        ("m8[ns]", pa.array([5], pa.duration("us")), [5_000]),
        (("u8", 2), pa.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (("u8", 2), pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)), [[1, 2], [3, 4]]),
        (("u8", 2), pl.Series([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (("u8", 2), pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)), [[1, 2], [3, 4]]),
    ],
)
def test_number_and_array_columns(field, column, stored):
    assert pack(field, column) == stored


@pytest.mark.parametrize(
    ("aware", "naive"),
    [
        (pa.array([NOON], pa.timestamp("us", tz="Asia/Tokyo")), pa.array([LOCAL])),
        (pl.Series([NOON]).dt.convert_time_zone("Asia/Tokyo"), pl.Series([LOCAL])),
        (pd.Series([NOON]).dt.tz_convert("Asia/Tokyo"), pd.Series([LOCAL])),
        (pd.Series([NOON], dtype=pd.ArrowDtype(pa.timestamp("us", tz="UTC"))),
         pd.Series([LOCAL], dtype=pd.ArrowDtype(pa.timestamp("us")))),
    ],
    ids=["arrow", "polars", "pandas", "pandas on arrow"],
)  # fmt: skip
def test_zones_are_honoured_and_never_guessed(aware, naive):
    marks = nvs.mark_schema(message=None)
    assert marks.pack(time=aware)["time"].tolist() == [NOON_NS]
    assert marks.pack(time=naive, naive="utc")["time"].tolist() == [NOON_NS]
    with pytest.raises(nvs.PackError, match="dates have no time zone"):
        marks.pack(time=naive)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1, None], dtype=pd.ArrowDtype(pa.int64())),
        pd.Categorical([1, None]),
        pa.array([1, None]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1, None])),
        pl.Series([1, None]),
        [1, pd.NA],
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_gaps_are_missing_values(column):
    assert fault("i8", column) == ("values are missing", (1,))


@pytest.mark.parametrize(
    ("field", "column", "found"),
    [
        ("i8", pa.array([decimal.Decimal(5)]), "Decimal values stand where numbers"),
        ("i8", pd.period_range("2026", "2027", freq="Y"), "Period values stand where numbers"),
        ("i8", pd.to_timedelta([1], "s"), "dates or durations stand in a field of plain"),
        (("u8", 2), pa.array([[1, 2], [3]]), "rows of different or unknown length"),
        ("i8", pa.array([{"a": 1}]), "dict values stand where numbers"),
        ("i8", {1, 2}, "set is no column"),
        ("i8", {1: 2}, "dict is no column"),
        ("i8", pd.NA, "values are missing"),
        ("i8", [[1], [2]], "list values stand where numbers"),
    ],
)
def test_other_columns_are_refused(field, column, found):
    assert fault(field, column)[0].startswith(found)


def test_a_range_id_is_never_0():
    ends = nvs.half_schema("end")
    with pytest.raises(nvs.PackError, match=r"0 stands where a range id is expected \(row 1\)"):
        ends.pack(time=[1, 2], range_id=[1, 0])
