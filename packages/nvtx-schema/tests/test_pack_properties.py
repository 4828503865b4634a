# SPDX-License-Identifier: Apache-2.0
"""Whatever is packed reads back equal, or the rows that would change are named."""

import math

import numpy as np
import nvtx_schema as nvs
from hypothesis import example, given
from hypothesis import strategies as st

NUMBER_TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]

numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-300, 300),
    st.sampled_from([s * 2**p + d for p in (53, 63, 64) for s in (1, -1) for d in (-1, 0, 1)]),
    st.floats(),
    st.floats(width=16),
    st.booleans(),
    st.none(),
)
texts = st.text(st.characters(), max_size=6) | st.sampled_from(
    ["", "\0", "a\0", "\ud800x", "🧠" * 4]
)


def pack(dtype, column):
    """Return the stored values, or the rows that were refused (None: the whole column)."""
    schema = nvs.mark_schema(message=None, fields={"x": dtype})
    try:
        rows = schema.pack(time=0, x=column)
    except nvs.PackError as error:
        (problem,) = error.problems
        assert problem.field == "x"
        assert all(0 <= row < len(column) for row in problem.rows)
        return None
    assert len(rows) == len(column)
    return rows["x"].tolist()


def fits(dtype, value):
    """Tell by Python's exact arithmetic whether a number type holds a value."""
    if value is None:
        return False
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return isinstance(value, bool) or (isinstance(value, int) and value in (0, 1))
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return not isinstance(value, float) and info.min <= value <= info.max
    if isinstance(value, float) and not math.isfinite(value):
        return True
    try:
        with np.errstate(over="ignore"):
            return float(kind.type(float(value))) == value
    except OverflowError:
        return False


def same(stored, value):
    if isinstance(value, float) and math.isnan(value):
        return math.isnan(stored)
    return stored == value


@given(st.sampled_from(NUMBER_TYPES), st.lists(numbers, max_size=6))
@example("f8", [2**63 - 1])
@example("u8", [2**63, -1])
@example("f8", [2**53 + 1, 0.5])
def test_lists_of_numbers_read_back_equal_exactly_when_they_fit(dtype, values):
    stored = pack(dtype, values)
    if all(fits(dtype, value) for value in values):
        assert stored is not None
        assert all(same(*pair) for pair in zip(stored, values, strict=True))
    else:
        assert stored is None


@given(
    st.sampled_from(NUMBER_TYPES),
    st.sampled_from([t for t in NUMBER_TYPES if t != "?"]),
    st.lists(numbers.filter(lambda value: value is not None), max_size=6),
)
def test_arrays_of_any_type_read_back_equal_or_are_refused(dtype, source, values):
    with np.errstate(all="ignore"):
        info = np.iinfo(source) if source[0] in "iu" else None
        kept = [v for v in values if math.isfinite(v) and (not info or info.min <= v <= info.max)]
        kept = [v if abs(v) < 1e300 else 0 for v in kept]
        column = np.array([int(v) if info else float(v) for v in kept], dtype=source)
    stored = pack(dtype, column)
    if stored is None:
        assert not all(fits(dtype, value) for value in column.tolist()) or (
            column.dtype.kind == "f" and np.dtype(dtype).kind != "f"
        )
    else:
        assert all(same(*pair) for pair in zip(stored, column.tolist(), strict=True))


@given(st.integers(1, 5), st.lists(texts, max_size=6), st.booleans())
def test_text_reads_back_equal_exactly_when_it_fits(width, values, fixed):
    column = np.array(values, dtype=str) if fixed else values
    expected = column.tolist() if fixed else values
    stored = pack(f"U{width}", column)
    sound = all(
        len(text) <= width and "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
        for text in expected
    )
    assert stored == (expected if sound else None)


@given(st.lists(st.integers(-5, 5), max_size=8))
def test_sorting_is_stable_and_loses_no_row(times):
    schema = nvs.mark_schema(message=None, fields={"place": np.int64})
    rows = schema.pack(time=times, place=range(len(times)), order="sort")
    expected = sorted(zip(times, range(len(times)), strict=True))
    assert rows.tolist() == expected
