# SPDX-License-Identifier: Apache-2.0
"""Schemas as JSON: nothing is lost on the way, and other documents are refused."""

import enum
import json
from fractions import Fraction

import numpy as np
import nvtx
import nvtx_schema as nvs
import pytest
from hypothesis import given
from hypothesis import strategies as st


class Phase(enum.Enum):
    FORWARD = 1
    BACKWARD = 2


class Level(enum.IntEnum):
    LOW = -1
    HIGH = 7


INNER = np.dtype([("a", "?"), ("b", "M8[s]"), ("c", "U3")], align=True)

specs = st.sampled_from(
    [
        "i1", "u8", "f2", "f8", "?", "U7", "S3", "M8[s]", "m8[ns]", ("u8", 4), ("?", (2, 2)),
        Phase, Level, INNER, (INNER, 2), nvs.category(), nvs.color(), nvs.scope_id(),
        nvs.registered_string(), nvs.value(np.int64, unit="bytes", min=0, max=2**63),
        nvs.value("f4", unit="s", min=-0.5, scale=Fraction(1, 1000),
                  value_type=nvtx.CounterValueType.DELTA,
                  interpolation=nvtx.CounterInterpolation.LINEAR),
    ]
)  # fmt: skip


@given(st.dictionaries(st.from_regex(r"[a-z .é\"]{1,6}", fullmatch=True), specs), st.booleans())
def test_a_schema_survives_json(fields, align):
    fields.pop("time", None)
    schema = nvs.Schema("mark", {"time": nvs.mark_time(), **fields}, align=align)
    copy = nvs.Schema.from_json(schema.to_json())
    assert copy == schema
    assert hash(copy) == hash(schema)
    assert copy.dtype == schema.dtype
    assert [copy.dtype.fields[n][0].metadata for n in copy.names] == [
        schema.dtype.fields[n][0].metadata for n in schema.names
    ]


def test_a_loaded_schema_packs_as_the_first_did():
    schema = nvs.mark_schema(fields={"level": Level, "when": "M8[s]"})
    columns = {"time": [1], "message": "x", "level": [Level.HIGH], "when": np.array([2], "M8[s]")}
    assert nvs.Schema.from_json(schema.to_json()).pack(columns) == schema.pack(columns)


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"nvtx_schema": 1, "kind": "mark"}'])
def test_what_is_no_schema_document_is_refused(text):
    with pytest.raises(nvs.SchemaError, match="this is no schema document"):
        nvs.Schema.from_json(text)


def test_a_document_is_checked_like_any_schema():
    document = json.loads(nvs.mark_schema().to_json())
    with pytest.raises(nvs.SchemaError, match="the document has version 9, not 1"):
        nvs.Schema.from_json(json.dumps({**document, "nvtx_schema": 9}))
    document["fields"][1]["offset"] = 4
    with pytest.raises(nvs.SchemaError, match="its bytes overlap those of 'time'"):
        nvs.Schema.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"storage": ">i8"}, "byte order of another machine"),
        ({"storage": "O"}, "Python objects"),
        ({"source": "text"}, "'text' values are not stored as int64"),
        ({"source": "magic"}, "'magic' values are not stored as int64"),
        ({"shape": [0]}, "stored as"),
        ({"role": "NONSENSE"}, "no schema document"),
    ],
)
def test_a_changed_document_is_refused(change, found):
    document = json.loads(nvs.mark_schema(message=None).to_json())
    document["fields"][0].update(change)
    with pytest.raises(nvs.SchemaError, match=found):
        nvs.Schema.from_json(json.dumps(document))
