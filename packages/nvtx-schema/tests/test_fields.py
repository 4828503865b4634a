# SPDX-License-Identifier: Apache-2.0
"""Which dtypes a field may have, and how each is stored."""

import enum

import numpy as np
import nvtx_schema as nvs
import pytest


class Phase(enum.Enum):
    FORWARD = 1
    BACKWARD = 2


class Level(enum.IntEnum):
    LOW = -1
    HIGH = 70_000


def stored(spec):
    return nvs.mark_schema(message=None, fields={"x": spec}).dtype.fields["x"][0]


def fault(spec, name="x"):
    with pytest.raises(nvs.SchemaError) as caught:
        nvs.mark_schema(message=None, fields={name: spec})
    (problem,) = caught.value.problems
    assert problem.field == name
    assert problem.remedy
    return problem.found


@pytest.mark.parametrize(
    ("spec", "storage"),
    [
        (bool, "u1"), ("datetime64[s]", "i8"), ("timedelta64[us]", "i8"), (np.float16, "f2"),
        (Phase, "u8"), (Level, "i8"), ("U5", "U5"), ("S3", "S3"), (int, "i8"), (float, "f8"),
        (("u8", (2, 2)), ("u8", (2, 2))), ((bool, 3), ("u1", 3)),
        (nvs.range_id(), "u8"), (nvs.category(), "u4"), (nvs.color(), "u4"),
    ],
)  # fmt: skip
def test_storage_of_each_kind_of_value(spec, storage):
    if isinstance(spec, nvs.Field) and spec == nvs.range_id():
        assert nvs.half_schema("end").dtype.fields["range_id"][0] == np.dtype(storage)
    else:
        assert stored(spec) == np.dtype(storage)


def test_numbers_get_the_type_that_nvtx_knows():
    # nvtx refuses np.longlong, which is another class than np.int64 on Linux.
    assert stored(np.dtype("q")).type is np.int64
    assert stored(np.dtype("Q")).type is np.uint64


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (complex, "complex numbers"), (object, "Python objects"), ("V8", "raw bytes"),
        (str, "text of no length"), (bytes, "text of no length"), (None, "no dtype was given"),
        (np.longdouble, "not among NVTX's number types"), (">u4", "byte order"),
        ("nonsense", "is not a dtype"), (("i8", 0), "holds nothing"),
        (("U4", 3), "arrays of text"), (nvs.text(True), "is not a length of text"),
        (np.dtype([("a", ">i2")]), "in 'a', dtype '>i2' has the byte order"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_named(spec, found):
    assert found in fault(spec)


@pytest.mark.parametrize(
    ("name", "found"),
    [("", "empty"), ("a\0", "NUL"), ("\ud800", "surrogate"), (3, "its name is a int")],
)
def test_names_that_nvtx_would_change_are_refused(name, found):
    assert found in fault("i8", name)


@pytest.mark.parametrize("name", ["two words", "nvtx.flow_out", "größe", "a/b[0]"])
def test_other_names_are_kept(name):
    assert nvs.mark_schema(fields={name: "u8"}).dtype.names[-1] == name


def test_overlapping_members_are_refused_and_padding_is_kept():
    overlapping = np.dtype({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [0, 2]})
    assert "in 'b', its bytes overlap those of 'a'" in fault(overlapping)
    padded = np.dtype([("a", "i1"), ("b", "i8")], align=True)
    assert stored(padded) == padded
    titled = np.dtype([(("title", "a"), "i4")])
    assert stored(titled).names == ("a",)
