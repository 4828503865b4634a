# SPDX-License-Identifier: Apache-2.0
"""Inputs are told by content, read twice in bounded memory, and kept up to a fault."""

from __future__ import annotations

import gzip
import json
import os
import random
import tracemalloc
from importlib.metadata import EntryPoint

import nvtx.writer
import pytest
from nvtx_replay import importers
from nvtx_replay.importers import ImportOptions, InputRefusedError, _input, registry
from nvtx_replay.importers.chrome import _batches, _json_events, _ranges

EVENTS = [
    {"ph": "X", "name": f"op {at}", "ts": at, "dur": 1, "pid": 1, "tid": 1, "args": {"at": at}}
    for at in range(300)
]
WHOLE = json.dumps({"baseTimeNanoseconds": 5, "traceEvents": EVENTS}).encode()


def test_gzip_is_told_by_content_not_by_name(record, tmp_path, write_input):
    packed = tmp_path / "packed.json"
    packed.write_bytes(gzip.compress(WHOLE))
    plain = write_input(WHOLE, "plain.json")
    assert record(packed)[0].spans() == record(plain)[0].spans()
    assert len(record(packed)[0].rows) == 300


def test_a_gzip_file_of_several_members_with_padding_is_read_whole(record, write_input):
    parts = gzip.compress(WHOLE[:700]) + gzip.compress(WHOLE[700:]) + b"\0" * 512
    recording, source = record(write_input(parts, "in.json"))
    assert len(recording.rows) == 300
    assert source.report.lossless


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("seed", range(10))
def test_a_cut_anywhere_keeps_every_complete_event_before_it(record, write_input, pack, seed):
    data = pack(WHOLE)
    cut = random.Random(seed).randrange(60, len(data) - 1)
    recording, source = record(write_input(data[:cut]))
    names = [row.name for row in sorted(recording.rows, key=lambda row: row.begin)]
    assert names == [event["name"] for event in EVENTS[: len(names)]]
    assert source.report.skipped["input_cut"] == 1
    (told,) = source.report.examples["input_cut"]
    if pack is bytes:
        assert len(names) == WHOLE[:cut].count(b"}}")
        assert f"at byte {cut}" in told
    else:
        assert f"gzip data ends early, at compressed byte {cut}" in told


def test_a_corrupt_gzip_file_keeps_what_could_be_unpacked(record, write_input):
    data = bytearray(gzip.compress(WHOLE))
    data[-4] ^= 0xFF
    recording, source = record(write_input(bytes(data)))
    assert len(recording.rows) == 300
    assert "gzip data is corrupt" in source.report.examples["input_cut"][0]


def test_a_malformed_event_ends_the_import_and_names_its_byte(record):
    text = WHOLE.replace(b'{"ph": "X", "name": "op 7"', b"{oops")
    recording, source = record(text)
    assert len(recording.rows) == 7
    assert f"at byte {text.index(b'oops')}" in source.report.examples["input_cut"][0]


def test_a_cut_input_is_refused_when_faults_are_to_raise(record):
    with pytest.raises(InputRefusedError, match="the input ends inside the value"):
        record(WHOLE[:-30], ImportOptions(on_error="raise"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with b'', which no importer knows"),
        (b"name,ts\n1,2\n", "begins with b'name,ts"),
        (b"{,,,oops", "expected a key or '}', found 'o' at byte 4"),
        (gzip.compress(b"hello"), "which no importer knows; expected: Chrome Trace Event Format"),
    ],
)
def test_what_is_no_trace_is_refused_with_what_was_found(write_input, content, message):
    with pytest.raises(InputRefusedError, match=message.replace("(", r"\(")):
        importers.scan(write_input(content))


def test_a_pipe_is_refused_with_advice(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputRefusedError, match="reads its input twice, so save a pipe's data"):
        importers.scan(tmp_path / "pipe")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputRefusedError, match="No such file"):
        importers.scan(tmp_path / "none.json")


def test_an_input_that_changes_between_the_passes_is_refused(write_input, record, monkeypatch):
    path = write_input(WHOLE)
    real = importers.scan

    def scan_then_append(*args):
        source = real(*args)
        path.write_bytes(json.dumps(EVENTS[:5]).encode())
        return source

    monkeypatch.setattr(importers, "scan", scan_then_append)
    with pytest.raises(InputRefusedError, match="300 ranges at first, then 5"):
        record(path)


def test_invalid_bytes_are_shown_as_replacements_and_counted(record):
    recording, source = record(b'[{"ph":"i","name":"a\xffb","ts":1,"args":{"k\xfe":"v\xc3"}}]')
    assert (recording.rows[0].name, recording.rows[0].args) == ("a\ufffdb", {"k\ufffd": "v\ufffd"})
    assert source.report.repaired == {"invalid_utf8": 3, "changed_text": 2}


def test_progress_counts_the_bytes_of_both_passes(write_input, record):
    path, seen = write_input(WHOLE), []
    importers.scan(path, progress=seen.append)
    assert sum(seen) == path.stat().st_size


@pytest.mark.parametrize(
    ("events", "contents"),
    [
        ('{"ph":"X","name":"op %d","ts":%d,"dur":1,"pid":1,"tid":1}', {"range": 1}),
        ('{"ph":"B","name":"op %d","ts":%d,"pid":1},{"ph":"E","ts":1000000,"pid":1}', {"range": 1}),
        ('{"ph":"b","name":"op %d","id":%d,"ts":0},{"ph":"e","ts":%d,"id":%d}', {"async range": 1}),
        ('{"ph":"C","name":"op %d","ts":%d,"pid":1,"args":{"n":1}}', {"sample": 1}),
    ],
)
def test_memory_does_not_grow_with_the_number_of_events(
    tmp_path, monkeypatch, recording_backend, events, contents
):
    monkeypatch.setattr(_input, "CHUNK_BYTES", 4096)
    monkeypatch.setattr(_input, "_MAX_INFLATED", 4096)
    monkeypatch.setattr(_json_events, "_COMPACT_AT", 4096)
    monkeypatch.setattr(_ranges, "_CHUNK", 1024)
    monkeypatch.setattr(_ranges, "_IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(_batches, "MAX_ROWS", 1024)

    def peak(count):
        path = tmp_path / f"{count}.json.gz"
        numbers = ((at % 50, at) * (events.count("%d") // 2) for at in range(count))
        text = "[" + "".join(f"{events},\n" % number for number in numbers)
        path.write_bytes(gzip.compress(text.encode(), 1))
        config = f"output={tmp_path / 'recorded.txt'}"
        tracemalloc.start()
        source = importers.scan(path)
        with nvtx.writer.Session("test", backend=recording_backend, config=config) as session:
            source.write(session)
        peaked = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert source.contents["events"] == {kind: n * count for kind, n in contents.items()}
        return peaked

    peak(3_000)
    assert peak(12_000) < peak(3_000) + 60_000  # 7 bytes an event, where one takes hundreds


def test_rows_with_long_texts_that_never_repeat_do_not_pile_up(
    tmp_path, monkeypatch, recording_backend, write_input
):
    monkeypatch.setattr(_batches, "MAX_BYTES", 1 << 20)
    names = (f"{at:04000}" for at in range(2_000))
    events = [{**EVENTS[0], "name": name, "tid": at % 16} for at, name in enumerate(names)]
    source = importers.scan(write_input(events))
    config = f"output={tmp_path / 'recorded.txt'}"
    with nvtx.writer.Session("test", backend=recording_backend, config=config) as session:
        tracemalloc.start()
        source.write(session)
        peaked = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (tmp_path / "recorded.txt").read_text().count("EventBatchWrite") >= 16
    assert peaked < 6 << 20  # the names alone are 8 MB


class Other:
    name, title = "other", "Other's format"

    def accepts(self, head):
        return head.startswith(b"[other")

    def scan(self, source, options):
        return source.path, options


def _entry(value):
    return [EntryPoint("other", value, registry.GROUP)]


def test_importers_of_other_packages_come_first(monkeypatch, write_input):
    entries = _entry(f"{__name__}:Other")
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    path = write_input("[other things")
    assert importers.scan(path) == (path, ImportOptions())
    assert [importer.name for importer in importers.importers()] == ["other", "chrome"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:X", "cannot be loaded: No module"),
        ("json:loads", "cannot be loaded|is a"),
        ("json:__name__", "is a str, expected name, title"),
    ],
)
def test_an_importer_that_is_none_is_named(monkeypatch, value, message):
    monkeypatch.setattr(registry, "entry_points", lambda group: _entry(value))
    with pytest.raises(InputRefusedError, match=message):
        importers.importers()
