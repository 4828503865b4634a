# SPDX-License-Identifier: Apache-2.0
"""Text: what is registered, what travels in the row, and that none is cut."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nvtx_replay import RowError, _event_packer


def test_repeated_text_is_registered_once_and_rare_text_travels_in_the_row(opened, recorded):
    messages = ["often"] * 50 + ["rare 1", "rare 2"] + ["often"] * 50
    with opened() as session, session.stream("s") as stream:
        stream.write_marks({"time": range(102), "message": messages})
    rows = sorted(recorded().events, key=lambda row: row["begin"])
    assert [row["message"] for row in rows] == messages
    assert recorded().strings == ["often"]


def test_text_met_in_an_earlier_table_is_registered(opened, recorded):
    with opened() as session:
        for name in "ab":
            with session.stream(name, domain="d") as stream:
                stream.write_marks({"time": [1], "message": ["x"]})
        with session.stream("c", domain="other") as stream:
            stream.write_marks({"time": [1], "message": ["x"]})
    assert [row["message"] for row in recorded().events] == ["x", "x", "x"]
    assert recorded().strings == ["x"]


def test_registered_text_is_bounded(opened, recorded):
    with opened() as session, session.stream("s") as stream:
        stream._strings.limit = 3
        for number in range(10):
            stream.write_marks({"time": [1, 2], "message": [f"m{number}"] * 2})
    assert recorded().strings == ["m0", "m1", "m2"]
    assert [row["message"] for row in recorded().events] == [
        f"m{number}" for number in range(10) for _ in range(2)
    ]


@pytest.mark.parametrize("text", ["", "é" * 9, "x" * 100_000, "\U0001f600"])
def test_text_of_any_length_and_kind_arrives_whole(opened, recorded, text):
    with opened() as session, session.stream("s") as stream:
        stream.write_marks({"time": [1], "message": [text], "t": [text]})
        stream.write_marks({"time": [1, 2], "message": [text] * 2, "t": [text] * 2})
    assert [(row["message"], row["t"]) for row in recorded().events] == [(text, text)] * 3


def test_a_long_text_does_not_widen_the_rows_of_short_ones(opened, recorded):
    messages = [f"{number:08}" for number in range(100)] + ["x" * 10_000]
    with opened() as session, session.stream("s") as stream:
        stream.write_marks({"time": range(101), "message": messages})
    sizes = [call.values["size"] for call in recorded().members("SchemaRegister")]
    assert sizes == [8 + 4 * 8, 8 + 4 * 16384]
    assert {row["message"] for row in recorded().events} == set(messages)


def test_wide_rows_are_packed_in_parts(stream, recorded, monkeypatch):
    monkeypatch.setattr(_event_packer, "_BYTES", 4 * 64 * 10)
    messages = [f"{number:050}" for number in range(25)]
    stream.write_marks({"time": range(25), "message": messages})
    assert [row["message"] for row in recorded().events] == messages
    assert len(recorded().members("EventBatchWrite")) == 3


BAD_TEXTS = {"time": [1, 2, 3], "message": ["ok", "bad \ud800", "ok"], "t": ["", "", "a\0b"]}


def test_text_that_is_not_valid_unicode_is_named(stream, recorded):
    with pytest.raises(RowError, match=r"row 1 holds 'bad \\ud800' in column 'message'") as caught:
        stream.write_marks(BAD_TEXTS)
    assert caught.value.kind == "invalid_text"
    assert recorded().written == []


@pytest.mark.parametrize(
    ("way", "written"),
    [("skip", [("ok", "")]), ("repair", [("ok", ""), ("bad \ufffd", ""), ("ok", "a\ufffdb")])],
)
def test_text_that_is_not_valid_unicode_is_skipped_or_repaired(opened, recorded, way, written):
    with opened(on_error=way) as session, session.stream("s") as stream:
        stream.write_marks(BAD_TEXTS)
    rows = sorted(recorded().events, key=lambda row: row["begin"])
    assert [(row["message"], row["t"]) for row in rows] == written
    counts = session.report.skipped if way == "skip" else session.report.repaired
    assert counts == {"invalid_text": 2}


TEXTS = st.one_of(st.none(), st.sampled_from(["a", "bb", "name of nine"]), st.text(max_size=20))
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), TEXTS, TEXTS, st.none() | st.integers(-9, 9)),
    min_size=1,
    max_size=40,
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=ROWS)
def test_any_table_arrives_whole_and_rows_of_equal_times_in_their_order(opened, recorded, rows):
    valid = [
        tuple(_clean(value) if isinstance(value, str) else value for value in row) for row in rows
    ]
    starts, lengths, messages, texts, numbers = map(list, zip(*valid, strict=True))
    table = {"start": starts, "dur": lengths, "message": messages, "t": texts, "n": numbers}
    with opened() as session, session.stream("s") as stream:
        stream.write_ranges(table, duration="dur", payload=["t", "n"])
    expected = [
        {"kind": "pushpop", "begin": s, "end": s + d, "message": m or ""}
        | ({} if t is None else {"t": t})
        | ({} if n is None else {"n": n})
        for s, d, m, t, n in valid
    ]
    assert _by_times(recorded().events) == _by_times(expected)


def _clean(text):
    """Leave out what the recording itself cannot tell from padding, and lone surrogates."""
    return text.encode("utf-8", "ignore").decode().replace("\0", "")


def _by_times(rows):
    ordered = sorted(rows, key=lambda row: (row["begin"], row["end"]))
    return [
        list(same) for _, same in itertools.groupby(ordered, key=lambda r: (r["begin"], r["end"]))
    ]
