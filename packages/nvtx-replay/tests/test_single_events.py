# SPDX-License-Identifier: Apache-2.0
"""Single events: what reaches the backend, and what is caught before."""

import math

import numpy as np
import pytest
from nvtx_replay import RowError


def test_all_single_events_arrive_as_written(opened, recorded):
    with opened() as session, session.stream("s", domain="d") as stream:
        text = stream.domain.get_registered_string("registered")
        stream.write_mark(5, message="mark", category="c", color=0xFF00FF00)
        stream.write_pushpop(-7, 9, message=text)
        stream.write_startend(np.int64(1), np.uint8(1))
        stream.write_push(2, message="outer")
        stream.write_push(2)
        stream.write_pop(3)
        stream.write_pop(4)
        stream.write_start(1, 77)
        stream.write_end(8, 77)
    found = [(e["kind"], e.get("begin"), e.get("end"), e["message"]) for e in _events(recorded)]
    assert found == [
        ("mark", 5, None, "mark"),
        ("pushpop", -7, 9, "registered"),
        ("startend", 1, 1, ""),
        ("push", 2, None, "outer"),
        ("push", 2, None, ""),
        ("pop", None, 3, None),
        ("pop", None, 4, None),
        ("start", 1, None, ""),
        ("end", None, 8, None),
    ]


def _events(recorded):
    return [{"message": None, **event} for event in recorded().events]


@pytest.mark.parametrize("bad", [1.5, 2.0, np.float32(3), math.nan, math.inf, 2**63, -(2**63) - 1])
def test_a_timestamp_that_is_no_int64_never_reaches_the_backend(opened, recorded, bad):
    with opened() as session, session.stream("s") as stream:
        with pytest.raises(RowError):
            stream.write_mark(bad)
        with pytest.raises(RowError):
            stream.write_pushpop(0, bad)
        with pytest.raises(RowError):
            stream.write_push(bad)
    assert recorded().events == []


@pytest.mark.parametrize("bad", ["12", None, 1j])
def test_a_timestamp_of_another_type_is_a_type_error(opened, bad):
    with (
        opened() as session,
        session.stream("s") as stream,
        pytest.raises(TypeError, match="integ"),
    ):
        stream.write_mark(bad)


@pytest.mark.parametrize(
    ("written", "skipped", "repaired"),
    [
        ([], {"float_timestamp": 1, "missing_timestamp": 1, "end_before_begin": 1}, {}),
        (
            [(2, None), (5, 5)],
            {"missing_timestamp": 1},
            {"float_timestamp": 1, "end_before_begin": 1},
        ),
    ],
)
def test_faults_are_skipped_or_repaired_and_counted(opened, recorded, written, skipped, repaired):
    way = "repair" if repaired else "skip"
    with opened(on_error=way) as session, session.stream("s") as stream:
        stream.write_mark(2.5)  # half to even: 2
        stream.write_mark(math.nan)
        stream.write_pushpop(5, 3)
    assert [(e["begin"], e.get("end")) for e in recorded().events] == written
    assert session.report.as_dict() == {"skipped": skipped, "repaired": repaired}
    assert session.report.lossless is (not skipped)


def test_a_range_that_ends_before_it_begins_is_refused_with_both_times(opened, recorded):
    with opened() as session, session.stream("s") as stream:
        with pytest.raises(RowError, match=r"'work' ends at 3, before it begins at 5"):
            stream.write_pushpop(5, 3, message="work")
        stream.write_push(5, message="open")
        with pytest.raises(RowError, match=r"'open' ends at 4, 1 before it begins at 5"):
            stream.write_pop(4)
        stream.write_pop(5)
    assert [e["kind"] for e in recorded().events] == ["push", "pop"]


@pytest.mark.parametrize("way", ["skip", "repair"])
def test_unmatched_halves_are_dropped_and_counted(opened, recorded, way):
    with opened(on_error=way) as session, session.stream("s") as stream:
        stream.write_pop(1)
        stream.write_end(1, 5)
        stream.write_start(1, 6)
        stream.write_start(2, 6)
        stream.write_end(3, 6)
    assert [e["kind"] for e in recorded().events] == ["start", "end"]
    assert session.report.skipped == {
        "unmatched_pop": 1,
        "unmatched_end": 1,
        "duplicate_range_id": 1,
    }


def test_unmatched_halves_raise_by_default(opened, recorded):
    with opened() as session, session.stream("s") as stream:
        with pytest.raises(RowError, match="pop at 1 without an open range"):
            stream.write_pop(1)
        with pytest.raises(RowError, match="range id 5, which is not open"):
            stream.write_end(1, 5)
    assert recorded().events == []


def test_a_range_left_open_raises_when_the_stream_closes_and_the_output_is_complete(
    opened, recorded
):
    session = opened()
    session.begin()
    stream = session.stream("s")
    stream.open()
    stream.write_push(1, message="outer")
    stream.write_start(2, 9, message="id")
    with pytest.raises(RowError, match=r"2 range\(s\) left open: 'outer' since 1, 'id' since 2"):
        session.end()
    assert [call.member for call in recorded().calls[-2:]] == ["StreamClose", "SessionEnd"]


def test_a_range_left_open_is_ended_at_the_last_time_seen_where_repair_is_asked_for(
    opened, recorded
):
    with opened(on_error="repair") as session, session.stream("s") as stream:
        stream.write_push(1)
        stream.write_start(2, 9)
        stream.write_push(3)
        stream.write_pop(30)
    ends = [(e["kind"], e["end"]) for e in recorded().events if "end" in e]
    assert ends == [("pop", 30), ("pop", 30), ("end", 30)]
    assert session.report.repaired == {"range_left_open": 2}


def test_an_exception_in_the_block_is_not_hidden_by_ranges_left_open(opened):
    session = opened()

    def fail():
        with session, session.stream("s") as stream:
            stream.write_push(1)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert session.report.skipped == {"range_left_open": 1}


def test_a_promise_about_order_is_kept_or_told(opened, recorded):
    with opened() as session:
        with session.stream("by begin", ordering="packed_range_start") as stream:
            stream.write_pushpop(1, 9)
            stream.write_pushpop(1, 2)
            with pytest.raises(RowError, match="0 comes after 1, against the stream's promise"):
                stream.write_mark(0)
        with session.stream("by end", ordering="PACKED_RANGE_END", on_error="repair") as stream:
            stream.write_pushpop(5, 6)
            stream.write_pushpop(1, 7)
            stream.write_pushpop(2, 3)
    assert len(recorded().events) == 5
    assert session.report.repaired == {"broken_order": 1}
