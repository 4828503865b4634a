# SPDX-License-Identifier: Apache-2.0
"""Building schemas: what the builders make, and every fault told at once."""

import pickle

import numpy as np
import nvtx
import nvtx_schema as nvs
import pytest


def faults(build, *args, **kwargs):
    with pytest.raises(nvs.SchemaError) as caught:
        build(*args, **kwargs)
    return {(problem.field, problem.found) for problem in caught.value.problems}


def test_a_range_schema_names_its_roles_first():
    work = nvs.range_schema(
        "startend", message=32, fields={"items": np.int64, "nvtx.flow_in": "u8"}
    )
    assert work.names == ("start", "end", "message", "items", "nvtx.flow_in")
    assert work.kind is nvtx.EventKind.RANGE_STARTEND
    assert work.dtype.itemsize == work.itemsize == 8 + 8 + 32 * 4 + 8 + 8


@pytest.mark.parametrize(
    ("schema", "names", "kind"),
    [
        (nvs.mark_schema(), ("time", "message"), nvtx.EventKind.MARK),
        (nvs.range_schema("pushpop"), ("start", "end", "message"), nvtx.EventKind.RANGE_PUSHPOP),
        (nvs.half_schema("push"), ("time", "message"), nvtx.EventKind.RANGE_PUSH),
        (nvs.half_schema("pop"), ("time",), nvtx.EventKind.RANGE_POP),
        (nvs.half_schema("start"), ("time", "range_id", "message"), nvtx.EventKind.RANGE_START),
        (nvs.half_schema("end"), ("time", "range_id"), nvtx.EventKind.RANGE_END),
        (nvs.counter_schema({"used": "i8"}), ("used",), None),
        (nvs.counter_schema({"used": "i8"}, time=True), ("time", "used"), None),
    ],
)
def test_builders_name_the_role_fields(schema, names, kind):
    assert schema.names == names
    assert schema.kind is kind


def test_every_fault_is_told_at_once_with_its_field_and_a_remedy():
    with pytest.raises(nvs.SchemaError) as caught:
        nvs.Schema(
            "pushpop",
            {
                "a\0b": np.int8,
                "z": complex,
                "who": nvs.message(0),
                "mark": nvs.mark_time(),
                "big": ">i4",
                "id": nvs.range_id(),
            },
        )
    problems = caught.value.problems
    assert [problem.field for problem in problems] == [
        "a\0b", "z", "who", "big", "mark", None, None, "id",
    ]  # fmt: skip
    assert all(problem.remedy for problem in problems)
    assert str(caught.value).startswith("8 problems:\n  - field 'a\\x00b': its name contains a NUL")


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("mark", {"m": nvs.message()}, (None, "kind 'mark' needs a MARK field")),
        ("pop", {"t": nvs.range_begin()}, ("t", "RANGE_BEGIN has no place in kind 'pop'")),
        ("start", {"t": nvs.range_begin()}, (None, "kind 'start' needs a RANGE_ID field")),
        ("pushpo", {"x": "i8"}, (None, "'pushpo' is no kind of schema")),
        ("counter", {}, (None, "there are no fields")),
        ("counter", {"t": nvs.counter_timestamp()}, (None, "a counter needs a value")),
        ("counter", {"s": "U4"}, ("s", "text is not a counter value")),
        ("counter", {"a": ("i8", 3)}, ("a", "a counter group is flat")),
        ("counter", {"m": nvs.message()}, ("m", "MESSAGE has no place in kind 'counter'")),
    ],
)
def test_roles_must_fit_the_kind(kind, fields, expected):
    assert expected in faults(nvs.Schema, kind, fields)


def test_doubled_roles_and_names_are_faults():
    found = faults(
        nvs.Schema,
        "mark",
        [("t", nvs.mark_time()), ("u", nvs.mark_time()), ("x", "i8"), ("x", "i4")],
    )
    assert found == {
        ("u", "'t' already has the role MARK"),
        ("x", "two fields have this name"),
    }


def test_a_dtype_that_nvtx_annotated_keeps_its_role_and_storage_is_checked():
    begin = nvtx.numpy_dtype(np.int64, entry_kind=nvtx.EntryKind.RANGE_BEGIN)
    fields = {"a": begin, "b": nvs.range_end(), "m": nvs.message(4)}
    assert nvs.Schema("pushpop", fields).field_with_role(nvtx.EntryKind.RANGE_BEGIN) == "a"
    wrong = nvtx.numpy_dtype("S8", entry_kind=nvtx.EntryKind.MESSAGE)
    assert faults(nvs.mark_schema, message=None, fields={"m": wrong}) == {
        ("m", "bytes are not sent as text, so they cannot be a message")
    }


def test_equal_schemas_are_one_key_and_survive_pickling():
    one = nvs.counter_schema({"used": nvs.value(np.int64, unit="bytes", min=0)})
    same = nvs.counter_schema({"used": nvs.value(np.int64, unit="bytes", min=0)})
    float_limit = nvs.counter_schema({"used": nvs.value(np.int64, unit="bytes", min=0.0)})
    other_unit = nvs.counter_schema({"used": nvs.value(np.int64, unit="items", min=0)})
    assert len({one, same, float_limit, other_unit}) == 3
    copy = pickle.loads(pickle.dumps(one))
    assert copy == one
    assert copy.dtype.fields["used"][0].metadata == one.dtype.fields["used"][0].metadata
    with pytest.raises(AttributeError):
        one.itemsize = 4


def test_align_places_fields_as_c_does():
    fields = {"flag": np.int8, "count": np.int64, "tail": np.int16}
    packed, aligned = (nvs.counter_schema(fields, align=align) for align in (False, True))
    assert dict(packed.offsets) == {"flag": 0, "count": 1, "tail": 9}
    assert packed.itemsize == 11
    assert dict(aligned.offsets) == {"flag": 0, "count": 8, "tail": 16}
    assert aligned.itemsize == 24


def test_units_limits_and_scale_are_checked():
    for bad in ({"scale": 0}, {"min": 2, "max": 1}, {"min": 1, "max": 2.5}, {"unit": "a\0"}):
        ((field, found),) = faults(nvs.counter_schema, {"used": nvs.value("i8", **bad)})
        assert field == "used"
        assert found.startswith("value() was refused")
    with pytest.raises(nvs.SchemaError, match="NaN is no limit"):
        nvs.counter_schema({"used": nvs.value("i8", max=float("nan"))})


def test_a_field_made_by_hand_is_judged_like_others():
    expected = {("x", "a Field of <U4 was made without its source")}
    assert faults(nvs.mark_schema, fields={"x": nvs.Field(np.dtype("U4"))}) == expected
