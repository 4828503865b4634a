# SPDX-License-Identifier: Apache-2.0
"""Processes and threads keep their identity and their names."""

from __future__ import annotations

import pytest
from nvtx_replay.importers.chrome._identity import escaped, normal_id
from nvtx_replay.importers.chrome._json_events import Number


def x(name, pid, tid, ts=0):
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": 1}


def m(kind, pid, tid=0, **args):
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}


def test_names_that_come_after_the_events_are_attached(record):
    recording, _ = record(
        [
            x("a", 10, 11),
            m("thread_name", 10, 11, name="loader"),
            m("process_name", 10, name="python"),
        ]
    )
    row = recording.named("a")
    assert (row.stream, row.path) == ("loader", "process[10] python/thread[11] loader")


def test_without_names_ids_alone_make_the_rows(record):
    recording, _ = record([x("a", 10, 11)])
    row = recording.named("a")
    assert (row.stream, row.path) == ("thread 11", "process[10]/thread[11]")


def test_ids_of_any_size_and_kind_are_rows_of_their_own(record):
    ids = [140589156634432, 140588800255680, 7168000000, "CPU functions", 7, -1, "07", 0, ""]
    events = [x(f"n{at}", 5, tid) for at, tid in enumerate(ids)]
    recording, _ = record([*events, m("thread_name", 5, 140589156634432, name="worker")])
    assert [recording.named(f"n{at}").path for at in range(len(ids))] == [
        "process[5]/worker (140589156634432)",
        "process[5]/140588800255680",
        "process[5]/7168000000",
        "process[5]/CPU functions",
        "process[5]/thread[7]",
        "process[5]/-1",
        "process[5]/07",
        "process[5]/0",
        "process[5]/(no name)",
    ]


def test_a_text_that_is_a_decimal_integer_is_that_integer(record):
    recording, _ = record([x("a", "5", "7"), x("b", 5, 7), x("c", "5 ", 7)])
    assert recording.named("a").path == recording.named("b").path == "process[5]/thread[7]"
    assert recording.named("c").path == "5 /thread 7"


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        (Number("7.0"), 7),
        ("-1", -1),
        ("٣", "٣"),
        ("", ""),
        (None, None),
        (True, 1),
        ("1" * 30, "1" * 30),
        ([1], "[1]"),
    ],
)
def test_every_id_has_one_form(raw, normal):
    assert normal_id(raw) == normal


def test_text_ids_become_plain_tracks(record):
    recording, _ = record([x("span", "Spans", "PyTorch Profiler")])
    row = recording.named("span")
    assert (row.stream, row.path) == ("PyTorch Profiler", "Spans/PyTorch Profiler")


def test_names_with_the_separators_of_paths_are_escaped(record):
    recording, _ = record([x("a", 1, 2), m("thread_name", 1, 2, name="a/b [c] \\d")])
    assert recording.named("a").path == "process[1]/thread[2] a\\/b \\[c\\] \\\\d"
    assert escaped("plain") == "plain"


def test_processes_that_share_a_name_are_told_apart_by_their_labels(record):
    events = []
    for pid, labels in ((1, "CPU"), (2, "GPU 0"), (3, "GPU 1")):
        events += [x(f"n{pid}", pid, 1), m("process_labels", pid, labels=labels)]
    shared = [m("process_name", pid, name="python") for pid in (1, 2)]
    recording, _ = record([*events, *shared, m("process_name", 3, name="other")])
    assert [recording.named(f"n{pid}").path for pid in (1, 2, 3)] == [
        "process[1] python (CPU)/thread[1]",
        "process[2] python (GPU 0)/thread[1]",
        "process[3] other/thread[1]",
    ]


def test_events_without_process_or_thread_are_kept(record):
    events = [
        {"ph": "X", "name": "a", "ts": 1, "dur": 1},
        {"ph": "X", "name": "b", "ts": 1, "dur": 1, "pid": 3},
        {"ph": "X", "name": "c", "ts": 1, "dur": 1, "tid": 4},
        {"ph": "i", "ts": 5},
    ]
    recording, source = record(events)
    assert sorted((row.begin, row.name, row.path) for row in recording.rows) == [
        (1000, "a", "no process id"),
        (1000, "b", "process[3]"),
        (1000, "c", "no process id/thread 4"),
        (5000, "", "no process id"),
    ]
    assert source.report.lossless


def test_metadata_alone_is_a_valid_input_without_timed_events(record):
    recording, source = record([m("process_name", 1, name="p"), {"ph": "M", "name": "odd"}])
    assert recording.rows == []
    assert source.contents["notes"] == ["no timed events"]


def test_python_functions_go_to_a_sibling_stream_of_their_thread(record):
    function = {**x("f", 1, 2), "cat": "python_function"}
    recording, _ = record([x("op", 1, 2), function, m("thread_name", 1, 2, name="main")])
    assert recording.named("op").stream == "main"
    assert recording.named("f").stream == "main · Python stack"
    assert recording.named("f").path == recording.named("op").path


def test_threads_of_one_name_in_several_processes_get_streams_of_distinct_names(record):
    events = []
    for pid in (1, 2, 3):
        task = {"ph": "b", "id": pid, "name": f"task {pid}", "ts": 0, "pid": pid}
        events += [x(f"n{pid}", pid, 7), m("thread_name", pid, 7, name="stream 7")]
        events += [task, {**task, "ph": "e", "ts": 1}]
    recording, _ = record(events)
    names = ("n1", "n2", "n3", "task 1", "task 2", "task 3")
    assert [(row.stream, row.path) for row in map(recording.named, names)] == [
        ("stream 7", "process[1]/thread[7] stream 7"),
        ("stream 7 #2", "process[2]/thread[7] stream 7"),
        ("stream 7 #3", "process[3]/thread[7] stream 7"),
        ("async", "process[1]"),
        ("async #2", "process[2]"),
        ("async #3", "process[3]"),
    ]


def test_rows_are_made_in_the_order_of_the_sort_indices(record, tmp_path):
    record(
        [
            x("a", 1, 1),
            x("b", 2, 1),
            x("c", 2, 2),
            m("process_sort_index", 1, sort_index=9),
            m("thread_sort_index", 2, 1, sort_index=5),
            m("thread_sort_index", 2, 2, sort_index=-5),
        ]
    )
    lines = (tmp_path / "recorded.txt").read_text().splitlines()
    words = [line.split("path=x")[1].split()[0] for line in lines if line.startswith("Scope")]
    assert [bytes.fromhex(word).decode() for word in words] == [
        "process[2]/thread[2]",
        "process[2]/thread[1]",
        "process[1]/thread[1]",
    ]
