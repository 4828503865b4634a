# SPDX-License-Identifier: Apache-2.0
"""The same table from every library that may hand it over."""

import datetime as dt
import subprocess
import sys

import numpy as np
import pytest
from nvtx_replay import RowError, TableError

ROWS = [(1, 4, "GET", 10, None), (2, 3, "PUT", 20, 0.5), (5, 6, "GET", None, 1.5)]
EXPECTED = [
    {"kind": "pushpop", "begin": 1, "end": 4, "message": "GET", "n": 10},
    {"kind": "pushpop", "begin": 2, "end": 3, "message": "PUT", "n": 20, "x": 0.5},
    {"kind": "pushpop", "begin": 5, "end": 6, "message": "GET", "x": 1.5},
]
NAMES = ["start", "end", "message", "n", "x"]
COLUMNS = {name: list(values) for name, values in zip(NAMES, zip(*ROWS, strict=True), strict=True)}


def _pandas(categorical=False):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS).astype({"n": "Int16", "x": "Float64"})
    frame.index = [7, 7, 9]  # labels play no part
    return frame.astype({"message": "category"}) if categorical else frame


def _arrow(dictionary=False):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(COLUMNS)
    table = pa.concat_tables([table.slice(0, 1), table.slice(1)])  # chunked
    encoded = table["message"].dictionary_encode() if dictionary else table["message"]
    return table.set_column(2, "message", encoded)


def _polars(kind=None):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(COLUMNS)
    target = {"categorical": pl.Categorical, "enum": pl.Enum(["PUT", "GET"])}.get(kind, pl.String)
    return frame.with_columns(frame["message"].cast(target))


TABLES = {
    "dict of lists": lambda: COLUMNS,
    "pandas": _pandas,
    "pandas, categorical": lambda: _pandas(categorical=True),
    "pandas, arrow-backed": lambda: _arrow().to_pandas(types_mapper=_arrow_dtype()),
    "arrow": _arrow,
    "arrow, dictionary": lambda: _arrow(dictionary=True),
    "arrow, record batch": lambda: _arrow().combine_chunks().to_batches()[0],
    "polars": _polars,
    "polars, categorical": lambda: _polars("categorical"),
    "polars, enum": lambda: _polars("enum"),
}


def _arrow_dtype():
    return pytest.importorskip("pandas").ArrowDtype


@pytest.mark.parametrize("build", TABLES.values(), ids=TABLES)
def test_the_same_rows_arrive_from_every_library(stream, recorded, build):
    assert stream.write_ranges(build()) == 3
    assert sorted(recorded().events, key=lambda row: row["begin"]) == EXPECTED
    assert "GET" in recorded().strings


def test_a_structured_array_is_a_table(stream, recorded):
    rows = np.array([(1, 2, "a", 0.5), (3, 4, "a", 1)], "i8,i8,U3,f4")
    rows.dtype.names = ("start", "end", "message", "x")
    stream.write_ranges(rows)
    assert [tuple(row.values())[1:] for row in recorded().events] == [
        (1, 2, "a", 0.5),
        (3, 4, "a", 1),
    ]


def test_numbers_of_another_byte_order_arrive_as_the_same_numbers(stream, recorded):
    times = np.array([258, 1], dtype=">i8")
    stream.write_marks({"time": times, "n": np.array([1, 258], ">u2")}, message=None)
    assert [(row["begin"], row["n"]) for row in recorded().events] == [(258, 1), (1, 258)]


def test_masked_values_are_missing(stream, recorded):
    numbers = np.ma.masked_array([1, 2], mask=[False, True])
    stream.write_marks({"time": [1, 2], "n": numbers}, message=None)
    assert [row.get("n") for row in recorded().events] == [1, None]
    with pytest.raises(RowError, match="row 1 has no value in column 'time'"):
        stream.write_marks({"time": numbers}, message=None)


def _days():
    pd = pytest.importorskip("pandas")
    return pd.to_datetime(["2024-01-01T00:00:00.000000001", "2024-01-02"], format="ISO8601")


def test_dates_with_a_zone_are_nanoseconds_since_the_epoch(opened, recorded):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    zoned = _days().tz_localize("Europe/Berlin")
    utc = [1704063600000000001, 1704150000000000000]
    series = zoned.to_series(index=[0, 1])
    arrow = pa.array(series)
    with opened() as session, session.stream("s", time_domain="realtime") as stream:
        for column in (series, arrow, pl.Series(arrow)):
            stream.write_marks({"time": column}, message=None)
    assert [row["begin"] for row in recorded().events] == utc * 3


@pytest.mark.parametrize(
    ("clock", "told"),
    [("realtime", "without a time zone"), ("monotonic", "time_domain='realtime'")],
)
def test_dates_without_a_zone_or_on_another_clock_are_refused(opened, recorded, clock, told):
    dates = np.array(["2024-01-01"], "M8[s]") if clock == "realtime" else _days().tz_localize("UTC")
    with opened() as session, session.stream("s", time_domain=clock) as stream:
        with pytest.raises(TableError, match=told):
            stream.write_marks({"time": dates}, message=None)
        with pytest.raises(TableError, match="without a time zone"):
            stream.write_marks({"time": [1], "at": np.array(["2024"], "M8[s]")}, message=None)
    assert recorded().written == []


def test_durations_of_any_unit_are_exact(stream, recorded):
    table = {"start": [5, 6], "dur": np.array([1, 3], "m8[us]")}
    stream.write_ranges(table, duration="dur", message=None)
    assert [row["end"] for row in recorded().events] == [1005, 3006]
    far = np.array([10**12], "m8[s]")
    with pytest.raises(TableError, match="cannot hold exactly"):
        stream.write_ranges({"start": [1], "dur": far}, duration="dur", message=None)


@pytest.mark.parametrize("value", [dt.timedelta(1), b"raw", 2**70, object()])
def test_values_that_a_payload_cannot_hold_are_refused(stream, recorded, value):
    with pytest.raises(TableError, match="'x'"):
        stream.write_marks({"time": [1, 2], "x": [value, 1]}, message=None)
    assert recorded().written == []


def test_a_frame_with_two_columns_of_one_name_is_refused(stream):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 2]], columns=["time", "time"])
    with pytest.raises(TableError, match="two columns are named 'time'"):
        stream.write_marks(frame, message=None)


def test_no_table_library_is_needed():
    names = ["pandas", "pyarrow", "polars"]
    block = f"import sys; sys.modules.update(dict.fromkeys({names}))"
    code = f"{block}; import nvtx_replay; print(nvtx_replay.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
