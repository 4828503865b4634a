# SPDX-License-Identifier: Apache-2.0
"""Counter events, and memory instants, become counters."""

from __future__ import annotations

from nvtx_replay.importers import ImportOptions


def c(ts, value, **more):
    return {"ph": "C", "name": "load", "ts": ts, "pid": 3, "args": {"cpu": value}, **more}


def test_every_key_of_the_arguments_is_a_series_of_its_process(record):
    recording, _ = record(
        [c(1, 2), {**c(2, 3), "args": {"cpu": 4, "gpu": 0.5}}, c(3, 9, id=7), c(4, 1, pid=4)]
    )
    assert recording.samples["load.gpu"] == [(2000, 0.5)]
    assert recording.samples["load 7.cpu"] == [(3000, 9)]
    assert sorted(recording.samples["load.cpu"]) == [(1000, 2), (2000, 4), (4000, 1)]
    assert recording.counter_paths["load.gpu"] == "process[3]"


def test_what_is_no_number_becomes_a_gap_and_a_numeric_text_a_number(record):
    values = ["1", "NaN", "3", "Infinity", "-Infinity", "null", '"5"', '"N/A"']
    text = ", ".join(
        f'{{"ph": "C", "name": "n", "ts": {ts}, "args": {{"v": {value}}}}}'
        for ts, value in enumerate(values)
    )
    recording, source = record(f"[{text}]")
    assert sorted(recording.samples["n.v"]) == [
        (0, 1),
        (1000, None),
        (2000, 3),
        (3000, None),
        (4000, None),
        (5000, None),
        (6000, 5),
        (7000, None),
    ]
    assert source.report.repaired == {"counter_gap": 5, "number_as_text": 1}
    assert source.report.lossless


def test_skipping_leaves_such_samples_out(record):
    recording, source = record([c(1, 1), c(2, None), c(3, "5")], ImportOptions(on_error="skip"))
    assert recording.samples["load.cpu"] == [(1000, 1)]
    assert source.report.skipped == {"counter_gap": 1, "number_as_text": 1}


def test_a_series_of_integers_keeps_64_bits_and_one_with_decimals_is_floating(record):
    big = 2**62 + 1
    recording, _ = record(
        [c(1, big), {**c(2, 1), "args": {"x": 1}}, {**c(3, 1), "args": {"x": 0.5}}]
    )
    assert recording.samples["load.cpu"] == [(1000, big)]
    assert recording.samples["load.x"] == [(2000, 1.0), (3000, 0.5)]


def test_integers_beyond_64_bits_are_floating_samples(record):
    recording, source = record([c(1, 2**64), c(2, 10**400)])
    assert recording.samples["load.cpu"][0] == (1000, float(2**64))
    assert recording.samples["load.cpu"][1][1] > 10**300
    assert source.report.lossless


def test_a_counter_without_values_is_counted(record):
    _, source = record([{"ph": "C", "name": "a", "ts": 1}, {"ph": "C", "ts": 1, "args": {}}])
    assert source.report.skipped == {"counter_without_values": 2}


def test_memory_instants_are_counters_in_bytes_and_keep_their_mark(record):
    args = {
        "Total Reserved": 0,
        "Total Allocated": 2048,
        "Bytes": -64,
        "Addr": 94918796519680,
        "Device Type": 0,
        "Device Id": -1,
        "finished": False,
    }
    cuda = {**args, "Device Type": 1, "Device Id": 2, "Total Allocated": 5}
    base = {"ph": "i", "s": "t", "name": "[memory]", "pid": 3, "tid": 4}
    recording, _ = record([{**base, "ts": 1, "args": args}, {**base, "ts": 2, "args": cuda}])
    assert recording.samples == {
        "memory cpu.allocated": [(1000, 2048)],
        "memory cpu.reserved": [(1000, 0)],
        "memory cuda:2.allocated": [(2000, 5)],
        "memory cuda:2.reserved": [(2000, 0)],
    }
    assert set(recording.counter_units.values()) == {"bytes"}
    assert [row.args for row in recording.rows] == [
        {**args, "finished": "false"},
        {**cuda, "finished": "false"},
    ]


def test_memory_instants_that_lack_totals_are_marks_only(record):
    recording, source = record([{"ph": "i", "name": "[memory]", "ts": 1, "args": {"Bytes": 1}}])
    assert (recording.samples, len(recording.rows)) == ({}, 1)
    assert source.report.lossless
