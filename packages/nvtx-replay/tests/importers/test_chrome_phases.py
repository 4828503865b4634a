# SPDX-License-Identifier: Apache-2.0
"""Each phase of the format becomes its counterpart in NVTX."""

from __future__ import annotations

import pytest
from nvtx_replay.importers import ImportOptions


def e(ph, name, ts, **more):
    event = {"ph": ph, "name": name, "ts": ts, "pid": 1, "tid": 1, **more}
    return {key: value for key, value in event.items() if value is not None}


def test_begins_and_ends_pair_by_thread_as_a_stack(record):
    recording, source = record(
        [
            e("B", "a", 1),
            e("B", "b", 2),
            e("B", "other", 2, tid=2),
            e("E", None, 3),
            e("E", None, 4),
            e("E", "other", 9, tid=2),
        ]
    )
    assert recording.spans() == [("a", 1000, 4000), ("b", 2000, 3000), ("other", 2000, 9000)]
    assert source.report.lossless


def test_a_named_end_closes_the_innermost_range_of_that_name(record):
    recording, _ = record([e("B", "a", 1), e("B", "b", 2), e("E", "a", 3), e("E", "b", 4)])
    assert recording.spans() == [("a", 1000, 3000), ("b", 2000, 4000)]


def test_arguments_of_an_end_are_added_to_those_of_its_begin(record):
    recording, _ = record(
        [e("B", "a", 1, args={"k": 1, "l": 2}), e("E", "a", 2, args={"k": 3, "m": 4})]
    )
    assert recording.named("a").args == {"k": 3, "l": 2, "m": 4}


def test_an_end_without_a_begin_is_skipped_and_counted(record):
    recording, source = record([e("E", "a", 1), e("e", "z", 1, id=1), e("i", "m", 2)])
    assert recording.spans() == [("m", 2000, None)]
    assert source.report.skipped == {"end_without_begin": 2}


def test_ranges_left_open_are_kept_as_begins(record):
    recording, source = record([e("B", "a", 1), e("b", "s", 2, id=1, cat="c")])
    assert [(row.kind, row.name, row.begin) for row in recording.rows] == [
        ("push", "a", 1000),
        ("start", "s", 2000),
    ]
    assert source.report.repaired == {"range_left_open": 2}


def test_an_end_before_its_begin_leaves_a_range_of_no_length(record):
    recording, source = record([e("B", "a", 5), e("E", "a", 3)])
    assert recording.spans() == [("a", 5000, 5000)]
    assert source.report.repaired == {"end_before_begin": 1}


def test_instants_go_to_their_thread_their_process_or_the_trace(record):
    events = [
        e("i", "t", 1, s="t"),
        e("I", "default", 2),
        e("i", "p", 3, s="p"),
        e("i", "g", 4, s="g"),
    ]
    recording, _ = record(events)
    assert [(row.kind, row.name, row.stream, row.path) for row in recording.rows] == [
        ("mark", "t", "thread 1", "process[1]/thread[1]"),
        ("mark", "default", "thread 1", "process[1]/thread[1]"),
        ("mark", "p", "process instants", "process[1]"),
        ("mark", "g", "global instants", None),
    ]


def test_async_ranges_pair_by_category_and_id_and_may_cross(record):
    recording, _ = record(
        [
            e("b", "a", 1, id="0x1", cat="net"),
            e("b", "b", 2, id="0x2", cat="net"),
            e("n", "step", 2.5, id="0x1", cat="net", args={"k": 1}),
            e("e", "a", 3, id="0x1", cat="net", tid=9),
            e("e", "b", 4, id="0x2", cat="net"),
            e("e", "b", 4, id="0x2", cat="other"),
        ]
    )
    found = [(row.kind, row.name, row.begin, row.end, row.stream) for row in recording.rows]
    assert sorted(found) == [
        ("async range", "a", 1000, 3000, "async"),
        ("async range", "b", 2000, 4000, "async"),
        ("mark", "step", 2500, None, "async"),
    ]
    assert recording.named("step").args == {"id": "0x1", "k": 1}


@pytest.mark.parametrize(
    ("begin", "end", "pairs"),
    [
        ({"id": 1, "pid": 1}, {"id": 1, "pid": 2}, True),
        ({"id2": {"global": 1}, "pid": 1}, {"id2": {"global": 1}, "pid": 2}, True),
        ({"id2": {"local": 1}, "pid": 1}, {"id2": {"local": 1}, "pid": 2}, False),
        ({"id2": {"local": 1}, "pid": 1}, {"id2": {"local": 1}, "pid": 1}, True),
    ],
)
def test_async_ids_are_global_unless_they_say_local(record, begin, end, pairs):
    _, source = record([e("b", "a", 1, **begin), e("e", "a", 2, **end)])
    assert source.report.lossless == pairs


def test_nested_async_ranges_of_one_id_close_by_name(record):
    recording, _ = record(
        [e("b", "a", 1, id=1), e("b", "b", 2, id=1), e("e", "a", 3, id=1), e("e", "b", 4, id=1)]
    )
    assert recording.spans() == [("a", 1000, 3000), ("b", 2000, 4000)]


def test_unknown_phases_and_things_that_are_no_events_are_counted(record):
    events = [
        e("v", "dump", 1),
        e("v", "dump", 2),
        {"name": "none"},
        7,
        "text",
        None,
        {"ph": ["X"]},
        e("i", "kept", 3),
    ]
    recording, source = record(events)
    assert recording.spans() == [("kept", 3000, None)]
    assert source.report.skipped == {
        "unknown_phase_v": 2,
        "event_without_phase": 1,
        "not_an_event": 3,
        "unknown_phase_other": 1,
    }


def test_events_without_a_usable_time_are_counted(record):
    events = [
        e("X", "a", None, dur=1),
        e("i", "b", "soon"),
        e("C", "c", float("nan")),
        e("s", "f", None, id=1),
        e("b", "g", None),
        e("i", "kept", 3),
    ]
    recording, source = record(events)
    assert recording.spans() == [("kept", 3000, None)]
    assert source.report.skipped == {"bad_timestamp": 5}


def test_categories_are_registered_by_name(record):
    recording, _ = record([e("X", "a", 1, dur=1, cat="cpu_op"), e("X", "b", 1, dur=1)])
    assert [row.category for row in recording.rows] == ["cpu_op", ""]


def test_fields_beside_the_arguments_are_kept_as_arguments(record):
    recording, _ = record(
        [e("X", "a", 1, dur=1, tdur=3, cname="good", args={"tdur": 9}), e("i", "b", 1, args=[1, 2])]
    )
    assert recording.named("a").args == {"tdur": 9, "cname": "good", "tdur (event)": 3}
    assert recording.named("b").args == {"args": "[1, 2]"}


def test_crossing_ranges_are_never_clipped_unless_asked(record):
    events = [
        e("X", "a", 0, dur=10),
        e("X", "b", 2, dur=8.0004),
        e("X", "c", 20, dur=5),
        e("X", "d", 23, dur=4),
    ]
    exact = [("a", 0, 10_000), ("b", 2000, 10_000), ("c", 20_000, 25_000), ("d", 23_000, 27_000)]
    assert record(events)[0].spans() == exact
    events[1]["dur"] = 8.004
    exact[1] = ("b", 2000, 10_004)
    recording, source = record(events)
    assert (recording.spans(), bool(source.report)) == (exact, False)
    recording, source = record(events, ImportOptions(clip_ns=100))
    exact[1] = ("b", 2000, 10_000)
    assert recording.spans() == exact
    assert source.report.repaired == {"clipped": 1}


def test_ranges_of_equal_begin_and_end_are_written_in_file_order_whatever_their_arguments(record):
    layouts = [{}, {"k": 1}, {"l": "x"}, {}, {"k": 2}, {"m": 0.5}, {"k": 3}]
    events = [e("X", f"n{at}", 5 + at // 40, dur=10, args=layouts[at % 7]) for at in range(200)]
    recording, _ = record(events)
    for begin in {row.begin for row in recording.rows}:
        names = [int(row.name[1:]) for row in recording.rows if row.begin == begin]
        assert names == sorted(names)


def test_ties_alone_cause_early_batches(record, tmp_path):
    record([e("X", "n", at, dur=10, args={f"k{at % 3}": 1}) for at in range(300)])
    log = (tmp_path / "recorded.txt").read_text()
    assert log.count("EventBatchWrite") == 4  # three layouts, and the first name as text
