# SPDX-License-Identifier: Apache-2.0
"""What the builders make, registered and written through the real nvtx.writer."""

import enum

import numpy as np
import nvtx
import nvtx_schema as nvs
import pytest

# Numbers from nvToolsExtPayload.h.
MESSAGE, TIMESTAMP, FIXED_ARRAY = 1 << 10, 2 << 10, 1 << 4
BEGIN, END, MARK, COUNTER = 1 << 12, 2 << 12, 3 << 12, 4 << 12
INT64, UINT64, FLOAT16, UINT8, UTF32, HANDLE = 17, 18, 42, 12, 78, 80


class Phase(enum.Enum):
    FORWARD = 1


def entries(recorder):
    return [
        (" ".join(rest), int(flags), int(kind), int(detail), int(offset), unit)
        for _, flags, kind, detail, offset, unit, *rest in recorder.lines("E")
    ]


@pytest.mark.parametrize("kind", ["mark", "pushpop", "startend", "push", "pop", "start", "end"])
def test_every_kind_is_accepted(recorder, kind):
    if kind in ("push", "pop", "start", "end"):
        schema = nvs.half_schema(kind, message=8)
    else:
        schema = nvs.mark_schema() if kind == "mark" else nvs.range_schema(kind)
    registered = recorder.domain.get_schema(schema.dtype, kind=schema.kind)
    columns = {name: [5] for name in schema.names} | {"message": "go"}
    (row,) = schema.pack(columns)
    recorder.stream.write_event(registered, row)
    ((_, _, written),) = recorder.lines("V")
    assert bytes.fromhex(written) == row.tobytes()


def test_a_range_schema_reaches_the_backend_as_described(recorder):
    schema = nvs.range_schema(
        "startend",
        message=6,
        fields={
            "input bytes": nvs.value(np.int64, unit="bytes"),
            "ok": bool,
            "half": np.float16,
            "nvtx.flow_out": ("u8", 2),
            "phase": Phase,
        },
    )
    recorder.domain.get_schema(schema.dtype, kind=schema.kind)
    assert entries(recorder) == [
        ("start", BEGIN | TIMESTAMP, INT64, 0, 0, "-"),
        ("end", END | TIMESTAMP, INT64, 0, 8, "-"),
        ("message", MESSAGE, UTF32, 6, 16, "-"),
        ("input bytes", 0, INT64, 0, 40, "bytes"),
        ("ok", 0, UINT8, 0, 48, "-"),
        ("half", 0, FLOAT16, 0, 49, "-"),
        ("nvtx.flow_out", FIXED_ARRAY, UINT64, 2, 51, "-"),
        ("phase", 0, HANDLE, 0, 67, "-"),
    ]


def test_a_registered_message_is_a_handle_with_the_message_role(recorder):
    schema = nvs.mark_schema(message="registered")
    registered = recorder.domain.get_schema(schema.dtype, kind=schema.kind)
    assert entries(recorder) == [
        ("time", MARK | TIMESTAMP, INT64, 0, 0, "-"),
        ("message", MESSAGE, HANDLE, 0, 8, "-"),
    ]
    rows = schema.pack(time=[1, 2, 3], message=["load", "run", "load"], domain=recorder.domain)
    recorder.stream.write_event_batch(registered, rows)
    texts = {int(handle): text for _, handle, text in recorder.lines("T")}
    assert sorted(texts.values()) == ["load", "run"]
    written = np.frombuffer(recorder.batch(), dtype=[("time", "i8"), ("message", "u8")])
    assert [texts[handle] for handle in written["message"].tolist()] == ["load", "run", "load"]


def test_counter_groups_with_and_without_time(recorder):
    fields = {"used": nvs.value(np.int64, unit="bytes", min=0), "busy": np.float32}
    timed, plain = nvs.counter_schema(fields, time=True), nvs.counter_schema(fields)
    counter = recorder.domain.get_counter("memory", timed.dtype)
    assert entries(recorder) == [
        ("time", TIMESTAMP, INT64, 0, 0, "-"),
        ("used", COUNTER, INT64, 0, 8, "bytes"),
        ("busy", COUNTER, 43, 0, 16, "-"),
    ]
    recorder.stream.write_counter_batch(counter, timed.pack(time=[1], used=[7], busy=[0.5]))
    other = recorder.domain.get_counter("other", plain.dtype)
    recorder.stream.write_counter_batch(other, plain.pack(used=[7], busy=[0.5]), timestamps=[1])
    (_, _, first, no_times), (_, _, second, times) = recorder.lines("N")
    assert (no_times, times) == ("", "0100000000000000")
    assert first == times + second


def test_structures_inside_an_event_are_accepted(recorder):
    shape = np.dtype([("rows", "i4"), ("exact", "?")])
    schema = nvs.mark_schema(message=None, fields={"shape": shape, "pair": (shape, 2)})
    registered = recorder.domain.get_schema(schema.dtype, kind=schema.kind)
    given = np.array([(3, True)], dtype=shape)
    pair = np.array([[(1, False), (2, True)]], dtype=shape)
    rows = schema.pack(time=[9], shape=given, pair=pair)
    recorder.stream.write_event_batch(registered, rows)
    assert recorder.batch() == b"".join(
        value.to_bytes(size, "little")
        for value, size in [(9, 8), (3, 4), (1, 1), (1, 4), (0, 1), (2, 4), (1, 1)]
    )


def test_a_faulty_table_never_reaches_the_backend(recorder):
    schema = nvs.mark_schema(message="registered", fields={"step": np.int8, "kind": nvs.category()})
    before = recorder.lines()
    with pytest.raises(nvs.PackError):
        schema.pack(
            time=[1, 2], message=["a", "b"], step=[1, 300], kind="x", domain=recorder.domain
        )
    assert recorder.lines() == before
    rows = schema.pack(time=[1, 2], message=["a", "b"], step=1, kind="io", domain=recorder.domain)
    assert [line[2] for line in recorder.lines("C")] == ["io"]
    assert rows["kind"].tolist() == [int(recorder.lines("C")[0][1])] * 2


def test_event_kinds_can_be_named_by_nvtx_itself():
    schema = nvs.Schema(nvtx.EventKind.MARK, {"t": nvs.mark_time()})
    assert schema == nvs.Schema("mark", {"t": nvs.mark_time()})
