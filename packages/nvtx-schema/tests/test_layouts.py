# SPDX-License-Identifier: Apache-2.0
"""Layouts from NumPy, ctypes, C and classes, and what is left of roles after NumPy."""

import ctypes
import shutil
import subprocess

import numpy as np
import nvtx
import nvtx_schema as nvs
import pytest

PADDED = np.dtype([("flag", "?"), ("t", "i8"), ("name", "U4")], align=True)


def fault(call, *args, **kwargs):
    with pytest.raises(nvs.SchemaError) as caught:
        call(*args, **kwargs)
    (problem,) = caught.value.problems
    return problem.field, problem.found


def test_from_dtype_keeps_offsets_and_padding():
    roles = {"t": nvtx.EntryKind.MARK, "name": nvs.message(4)}
    schema = nvs.Schema.from_dtype("mark", PADDED, roles)
    assert dict(schema.offsets) == {"flag": 0, "t": 8, "name": 16}
    assert schema.itemsize == PADDED.itemsize == 32
    rows = schema.pack(flag=[True, False], t=[1, 2], name=["a", "b"])
    assert rows.view(PADDED.newbyteorder("=")).tolist() == [(True, 1, "a"), (False, 2, "b")]


def test_roles_must_name_fields_and_fit_their_storage():
    found = fault(nvs.Schema.from_dtype, "mark", PADDED, {"u": nvs.mark_time()})
    assert found == ("u", "roles= names it, but the dtype has no such field")
    roles = {"t": nvs.mark_time(), "name": nvs.message(8)}
    assert fault(nvs.Schema.from_dtype, "mark", PADDED, roles) == (
        "name", "the dtype stores <U4, the role <U8",
    )  # fmt: skip
    assert fault(nvs.Schema.from_dtype, "mark", "i8")[1] == "dtype int64 has no named fields"


def test_overlap_big_endian_and_titles_in_a_dtype():
    overlapping = np.dtype(
        {"names": ["t", "u"], "formats": ["i8", "i4"], "offsets": [0, 4], "itemsize": 8}
    )
    roles = {"t": nvs.mark_time()}
    assert fault(nvs.Schema.from_dtype, "mark", overlapping, roles) == (
        "u", "its bytes overlap those of 't' (offset 4)",
    )  # fmt: skip
    with pytest.raises(nvs.SchemaError, match="byte order of another machine"):
        nvs.Schema.from_dtype("mark", [("t", "i8"), ("u", ">i4")], roles)
    titled = np.dtype([(("when", "t"), "i8")])
    assert nvs.Schema.from_dtype("mark", titled, roles).names == ("t",)


def test_explicit_offsets_are_checked():
    fields = {"t": nvs.mark_time(), "x": "i4"}
    schema = nvs.Schema("mark", fields, offsets=[8, 0], itemsize=24)
    assert schema.dtype.itemsize == 24
    assert schema.pack(t=[2], x=[1]).tobytes() == bytes([1, *[0] * 7, 2, *[0] * 15])
    assert fault(nvs.Schema, "mark", fields, offsets=[0])[1] == "offsets= has [0] for 2 fields"
    found = "itemsize=8 is less than the 12 bytes of the fields"
    assert fault(nvs.Schema, "mark", fields, offsets=[0, 8], itemsize=8)[1] == found


class Inner(ctypes.Structure):
    _fields_ = (("rows", ctypes.c_int32), ("exact", ctypes.c_bool))


class Row(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint8), ("time", ctypes.c_int64), ("tag", ctypes.c_char * 6),
        ("load", ctypes.c_double * 2), ("shape", Inner),
    )  # fmt: skip


def test_from_ctypes_describes_the_very_bytes():
    schema = nvs.Schema.from_ctypes("mark", Row, {"time": nvs.mark_time()})
    assert schema.itemsize == ctypes.sizeof(Row)
    row = Row(7, 99, b"tag", (1.5, 2.5), Inner(3, True))
    columns = schema.unpack(bytes(row))
    assert (columns["kind"][0], columns["time"][0], columns["tag"][0]) == (7, 99, b"tag")
    assert columns["load"].tolist() == [[1.5, 2.5]]
    assert columns["shape"].tolist() == [(3, 1)]
    assert fault(nvs.Schema.from_ctypes, "mark", int)[1].endswith("is no ctypes.Structure class")


def test_the_c_declaration_compiles_to_the_same_layout(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc)")
    inner = np.dtype([("a", "i1"), ("b", "f4")], align=True)
    fields = {
        "nvtx.flow_out": ("u8", (2, 3)), "nvtx_flow_out": "u1", "int": "f2", "9 lives": "S3",
        "pair": (inner, 2), "ok": bool, "when": "M8[ns]", "last": "f8", "*/": "i2",
    }  # fmt: skip
    schema = nvs.mark_schema(message=5, fields=fields, align=True)
    text = schema.as_c_struct("mark_row")
    names = ["time", "message", "nvtx_flow_out", "nvtx_flow_out_2", "_int", "_9_lives", "pair"]
    names += ["ok", "when", "last", "__"]
    checks = "".join(
        f'static_assert(offsetof(struct mark_row, {name}) == {offset}, "");\n'
        for name, offset in zip(names, schema.offsets.values(), strict=True)
    )
    source = tmp_path / "row.c"
    source.write_text(f"#include <stddef.h>\n{text}{checks}")
    command = [compiler, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", str(source)]
    subprocess.run(command, check=True)


def test_unpack_gives_back_what_was_packed():
    schema = nvs.mark_schema(
        message=5, fields={"ok": bool, "when": "M8[us]", "took": "m8[s]", "b": "S2"}
    )
    given = {
        "time": np.array([1, 2]), "message": np.array(["é", "b"]), "ok": np.array([True, False]),
        "when": np.array([5, 6], "M8[us]"), "took": np.array([7, 8], "m8[s]"),
        "b": np.array([b"x", b"yz"]),
    }  # fmt: skip
    rows = schema.pack(given)
    for data in (rows, rows.tobytes(), memoryview(rows.tobytes())):
        columns = schema.unpack(data)
        assert list(columns) == list(given)
        assert all((columns[name] == given[name]).all() for name in given)
        assert columns["ok"].dtype == np.bool_
        assert columns["when"].dtype == np.dtype("M8[ns]")
    with pytest.raises(nvs.PackError, match="are no whole number of rows"):
        schema.unpack(rows.tobytes()[:-1])


def test_reapply_restores_roles_that_numpy_dropped():
    schema = nvs.mark_schema(message=4)
    plain = np.array([(1, "a")], dtype=[("time", "i8"), ("message", "U4")])
    restored = plain.view(schema.reapply(plain.dtype))
    assert restored.dtype.fields["time"][0].metadata == schema.dtype.fields["time"][0].metadata
    assert "is not the layout of this schema" in fault(schema.reapply, [("time", "i8")])[1]


def test_a_class_declares_a_schema():
    width = 16

    @nvs.schema("startend", align=True)
    class Work:
        start = nvs.range_begin()
        end = nvs.range_end()
        message = nvs.message(width)
        items: np.int32
        ok: "bool"

    fields = {"items": np.int32, "ok": bool}
    assert Work == nvs.range_schema("startend", message=16, fields=fields, align=True)
    with pytest.raises(nvs.SchemaError, match="an annotation of Lost cannot be read"):

        @nvs.schema("mark")
        class Lost:
            x: "nowhere"  # noqa: F821


def test_describe_is_a_table():
    schema = nvs.range_schema(
        "pushpop", message=8, fields={"used": nvs.value("i8", unit="bytes", min=0), "f": ("u8", 2)}
    )
    assert schema.describe().splitlines() == [
        "pushpop, 72 bytes a row",
        "offset  size  name     stored as              is",
        "     0     8  start    int64                  RANGE_BEGIN",
        "     8     8  end      int64                  RANGE_END",
        "    16    32  message  UTF-32, 8 code points  MESSAGE",
        "    48     8  used     int64                  bytes, 0 to",
        "    56    16  f        uint64[2]",
    ]


def test_an_annotated_dtype_gives_back_its_schema():
    inner = np.dtype([("a", "i4"), ("b", "U3")])
    fields = {
        "n": nvs.value("i8", unit="bytes", min=0), "text": "U5", "raw": "S2", "shape": (inner, 2),
        "category": nvs.category(), "color": nvs.color(), "flow": ("u8", 3),
        "name": nvs.registered_string(),
    }  # fmt: skip
    for schema in (
        nvs.range_schema("pushpop", message=8, fields=fields, align=True),
        nvs.half_schema("start", message="registered", fields=fields),
        nvs.counter_schema({"n": fields["n"]}, time=True),
    ):
        copy = nvs.Schema.from_dtype(schema.kind or "counter", schema.dtype)
        assert copy == schema
        assert [copy.dtype.fields[n][0].metadata for n in copy.names] == [
            schema.dtype.fields[n][0].metadata for n in schema.names
        ]
