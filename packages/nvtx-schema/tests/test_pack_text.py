# SPDX-License-Identifier: Apache-2.0
"""Packing text, bytes and identifiers."""

import enum

import numpy as np
import nvtx_schema as nvs
import pytest


class Phase(enum.Enum):
    FORWARD = 1
    BACKWARD = 2


class StandInDomain:
    """Counts registrations, as nvtx.writer.Domain would make them."""

    def __init__(self):
        self.strings = []
        self.categories = []

    def get_registered_string(self, text):
        self.strings.append(text)
        return RegisteredText(1000 + len(self.strings))

    def get_category_id(self, name):
        self.categories.append(name)
        return len(self.categories)


class RegisteredText:
    def __init__(self, handle):
        self.handle = handle


def pack(field, values, **options):
    return nvs.mark_schema(message=None, fields={"x": field}).pack(time=1, x=values, **options)["x"]


def fault(field, values, **options):
    with pytest.raises(nvs.PackError) as caught:
        pack(field, values, **options)
    (problem,) = caught.value.problems
    assert problem.field == "x"
    return problem.found, problem.rows


@pytest.mark.parametrize("make", [list, np.array, lambda texts: np.array(texts, dtype=object)])
def test_text_too_long_is_refused_and_cut_only_by_name(make):
    values = make(["four", "fives", "", "sixsix"])
    assert fault("U4", values) == ("values are longer than 4 code points", (1, 3))
    assert pack("U4", values, truncate=True).tolist() == ["four", "five", "", "sixs"]
    assert pack("U4", values, truncate=["x"]).tolist() == ["four", "five", "", "sixs"]
    assert pack("U4", values, truncate="x").tolist() == ["four", "five", "", "sixs"]
    with pytest.raises(nvs.PackError, match="truncate= names 'y', which is no field"):
        pack("U4", values, truncate=["y"])


@pytest.mark.parametrize(
    ("values", "found", "rows"),
    [
        (["a", "b\0c"], "text contains a NUL", (1,)),
        (["a\0"], "text contains a NUL", (0,)),
        (np.array(["a", "b\0c"]), "text contains a NUL", (1,)),
        (["\ud800", "a"], "text contains lone surrogates", (0,)),
        (np.array(["a", "\udfff"]), "text contains lone surrogates", (1,)),
        ([b"a", "b"], "bytes values stand where text is expected", (0,)),
        (["a", None], "values are missing", (1,)),
        (["a", float("nan")], "values are missing", (1,)),
        ([1, "a"], "int values stand where text is expected", (0,)),
        ([1, 2], "int64 values stand where text is expected", ()),
    ],
)
def test_text_that_a_reader_would_see_otherwise_is_refused(values, found, rows):
    text, at = fault("U8", values)
    assert text.startswith(found)
    assert at == rows


def test_code_points_beyond_16_bits_count_once():
    assert pack("U3", ["🧠🧠é", "größ"[:3]]).tolist() == ["🧠🧠é", "grö"]


def test_bytes_keep_every_byte():
    assert pack("S3", [b"a\0b", b"xyz"]).tolist() == [b"a\0b", b"xyz"]
    assert fault("S3", [b"abcd"]) == ("values are longer than 3 bytes", (0,))
    assert fault("S3", np.array([b"ab", b"abcd"])) == ("values are longer than 3 bytes", (1,))
    assert fault("S3", [b"ok", b"a\0"]) == ("bytes end in NUL, which NumPy takes for padding", (1,))
    assert fault("S3", ["abc"])[1] == (0,)
    assert pack("S3", [b"abcd"], truncate=True).tolist() == [b"abc"]


def test_each_distinct_text_is_registered_once():
    domain = StandInDomain()
    names = ["load", "run", "load", "run", "load"]
    handles = pack(nvs.registered_string(), names, domain=domain)
    assert domain.strings == ["load", "run"]
    assert handles.tolist() == [1001, 1002, 1001, 1002, 1001]
    assert pack(nvs.registered_string(), np.array(names), domain=domain)[1] == 1004


def test_handles_may_be_given_instead_of_text():
    given = [RegisteredText(5), 6, RegisteredText(7)]
    assert pack(nvs.registered_string(), given).tolist() == [5, 6, 7]
    assert pack(nvs.registered_string(), RegisteredText(5)).tolist() == [5]
    assert fault(nvs.registered_string(), ["a"])[0] == "text must be registered in a domain"
    assert fault(nvs.registered_string(), ["a\0b"], domain=StandInDomain())[1] == (0,)
    with pytest.raises(nvs.PackError, match="domain= is a int, which has no"):
        pack(nvs.registered_string(), ["a"], domain=3)


def test_enum_members_become_registered_names():
    domain = StandInDomain()
    members = [Phase.BACKWARD, Phase.FORWARD, "BACKWARD"]
    assert pack(Phase, members, domain=domain).tolist() == [1001, 1002, 1001]
    assert domain.strings == ["BACKWARD", "FORWARD"]
    found = ("values are no members (BACKWARD, FORWARD)", (1,))
    assert fault(Phase, [Phase.FORWARD, "SIDEWAYS"], domain=domain) == found
    assert fault(Phase, [1, 2.5], domain=domain)[1] == (0, 1)


def test_categories_colors_and_scopes():
    domain = StandInDomain()
    assert pack(nvs.category(), ["io", "io", "math"], domain=domain).tolist() == [1, 1, 2]
    assert pack(nvs.category(), [3, 4]).tolist() == [3, 4]
    assert fault(nvs.category(), [-1])[1] == (0,)
    colors = pack(nvs.color(), ["#ff0000", "#80FF0000", "#ff0000"])
    assert [hex(color) for color in colors] == ["0xffff0000", "0x80ff0000", "0xffff0000"]
    assert pack(nvs.color(), 0xFF00FF00).tolist() == [0xFF00FF00]
    assert fault(nvs.color(), ["#ff0000", "reddish"]) == ("'reddish' is no color", (1,))
    assert fault(nvs.scope_id(), ["a"])[0] == "text stands where a SCOPE_ID is expected"
