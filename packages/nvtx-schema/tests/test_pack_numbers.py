# SPDX-License-Identifier: Apache-2.0
"""Packing numbers: kept exactly, or refused with the rows at fault."""

import enum

import numpy as np
import nvtx_schema as nvs
import pytest


class Level(enum.IntEnum):
    LOW = -1
    HIGH = 7


def pack(dtype, values, **options):
    return nvs.counter_schema({"x": dtype}).pack({"x": values}, **options)["x"]


def fault(dtype, values, **options):
    with pytest.raises(nvs.PackError) as caught:
        pack(dtype, values, **options)
    (problem,) = caught.value.problems
    assert problem.field == "x"
    return problem.found, problem.rows


@pytest.mark.parametrize(
    ("dtype", "values", "found", "rows"),
    [
        ("i1", [1, 128, -129], "values lie outside int8 (-128 to 127)", (1, 2)),
        ("u8", np.array([1, -1]), "values lie outside uint64 (0 to 18446744073709551615)", (1,)),
        ("i8", [2**63, 1], "values lie outside int64", (0,)),
        ("i8", [2**64, -1], "values lie outside int64", (0,)),
        ("i8", [1.0, 2.5], "float64 values stand where int64 is expected", (1,)),
        ("i8", [2, 2.0], "floats stand where int64 is expected", (1,)),
        ("i8", [1.0, float("nan")], "NaN or infinity stands where int64 is expected", (1,)),
        ("f4", [0.5, 0.1], "float32 cannot hold these float64 values exactly", (1,)),
        ("f8", [2**53, 2**53 + 1], "float64 cannot hold these int64 values exactly", (1,)),
        ("f8", [2**63 - 1], "float64 cannot hold these int64 values exactly", (0,)),
        ("f2", [1.0, 1e6], "values are too large for float16", (1,)),
        ("f8", [1.5, 2**70 + 1], "values that no float64 holds exactly", (1,)),
        ("i8", [1, None], "values are missing", (1,)),
        ("i8", ["1", "2"], "str values stand where numbers (int64) are expected", (0, 1)),
        ("i8", np.array(["1"]), "texts stand where numbers (int64) are expected", ()),
        ("f8", [1j], "complex values stand where numbers (float64) are expected", (0,)),
        (bool, [0, 1, 2], "numbers other than 0 and 1 stand where truth values", (2,)),
        (bool, [0.0], "floats stand where truth values are expected", ()),
        (Level, [7, 3], "values are no members (LOW=-1, HIGH=7)", (1,)),
    ],
)
def test_a_value_that_would_change_is_refused_with_its_row(dtype, values, found, rows):
    text, at = fault(dtype, values)
    assert text.startswith(found)
    assert at == rows


@pytest.mark.parametrize(
    ("dtype", "values", "stored"),
    [
        ("i8", [2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        ("u8", [2**64 - 1, 0], [2**64 - 1, 0]),
        ("i4", np.array([1, 2], dtype=">i8"), [1, 2]),
        ("f8", [1, 2.5, -0.0], [1.0, 2.5, -0.0]),
        ("f4", [1, 0.5], [1.0, 0.5]),
        ("i2", [True, False], [1, 0]),
        (bool, [True, False, True], [1, 0, 1]),
        (bool, np.array([1, 0]), [1, 0]),
        (Level, [Level.HIGH, Level.LOW], [7, -1]),
        ("i8", range(3), [0, 1, 2]),
        ("i8", (number for number in (4, 5)), [4, 5]),
        ("i8", np.array([3, np.int8(4)], dtype=object), [3, 4]),
    ],
)
def test_values_that_fit_are_kept(dtype, values, stored):
    assert pack(dtype, values).tolist() == stored


def test_casting_relaxes_by_name():
    assert pack("f4", [0.1], casting="same_kind") == np.float32(0.1)
    assert pack("i8", [2.9, -2.9], casting="unsafe").tolist() == [2, -2]
    assert pack("i1", [300], casting="unsafe").tolist() == [44]
    assert pack(bool, [0.0, 3.5], casting="unsafe").tolist() == [0, 1]
    assert fault("i8", [1.5], casting="same_kind")[1] == (0,)
    for still_wrong in ([float("nan")], [float("inf")], [1e300]):
        assert fault("i8", still_wrong, casting="unsafe")[1] == (0,)
    assert fault("f4", [1e300], casting="unsafe")[1] == (0,)


def test_nan_stays_nan_in_a_float_field():
    assert np.isnan(pack("f4", [float("nan"), 1.0])).tolist() == [True, False]


def test_arrays_in_a_field_need_their_shape_and_name_rows_not_elements():
    schema = nvs.mark_schema(message=None, fields={"nvtx.flow_out": ("u1", 2)})
    rows = schema.pack({"time": [1, 2], "nvtx.flow_out": [[1, 2], [3, 4]]})
    assert rows["nvtx.flow_out"].tolist() == [[1, 2], [3, 4]]
    with pytest.raises(nvs.PackError, match=r"shape \(2,\), not rowsx2"):
        schema.pack({"time": [1, 2], "nvtx.flow_out": np.array([1, 2])})
    with pytest.raises(nvs.PackError) as caught:
        schema.pack({"time": [1, 2], "nvtx.flow_out": np.array([[1, 2], [300, 400]])})
    assert caught.value.problems[0].rows == (1,)
    with pytest.raises(nvs.PackError, match="rows of different or unknown length"):
        schema.pack({"time": [1, 2], "nvtx.flow_out": [[1, 2], [3]]})


def test_an_unknown_option_is_refused():
    with pytest.raises(nvs.PackError, match="casting='loose' is not known; use one of exact"):
        pack("i8", [1], casting="loose")
