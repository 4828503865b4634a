# SPDX-License-Identifier: Apache-2.0
"""The command converts, reports, and tells by its exit status what came of it."""

from __future__ import annotations

import gzip
import json
import os

import pytest
from click.testing import CliRunner
from nvtx_replay import open_session
from nvtx_replay.cli import _convert, main

EVENT = {"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}


@pytest.fixture
def convert(tmp_path, recorder, monkeypatch):
    """Run the command on events in an empty folder."""
    monkeypatch.setenv("NVTXW3_LIBRARY", str(recorder))
    monkeypatch.chdir(tmp_path)

    def run(events, *options):
        text = events if isinstance(events, str) else json.dumps(events)
        (tmp_path / "in.json").write_text(text)
        return CliRunner().invoke(main, ["convert", "in.json", "-o", "out.txt", *options])

    return run


def test_a_clean_conversion_exits_with_0_and_says_what_it_wrote(convert, tmp_path):
    result = convert([EVENT, {**EVENT, "ph": "i"}])
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr == "in.json → out.txt: 1 instant, 1 range\n"
    assert "EventBatchWrite" in (tmp_path / "out.txt").read_text()


def test_json_goes_to_stdout(convert):
    result = convert([EVENT], "--json")
    report = json.loads(result.stdout)
    assert result.stderr == ""
    assert report["lossless"] is True
    assert report["contents"]["events"] == {"range": 1}
    assert report["contents"]["span_ns"] == 2000
    assert (report["skipped"], report["repaired"], report["time_offset_ns"]) == ({}, {}, 0)


def test_losses_are_reported_and_exit_with_3(convert):
    result = convert('[{"ph":"i","ts":1},{"ph":"?","ts":1},{"ph":"i"')
    assert result.exit_code == 3
    assert "unknown_phase_?: event 1: phase '?' is not known" in result.stderr
    assert "input_cut: the input ends inside the value that begins at byte 37, at byte 46" in (
        result.stderr
    )


def test_repairs_alone_exit_with_0(convert):
    result = convert([{**EVENT, "dur": -1}])
    assert result.exit_code == 0
    assert "negative_duration: event 0: its duration is -1000 ns; kept" in result.stderr


def test_negative_times_are_moved_by_one_offset_which_is_told(convert, tmp_path):
    result = convert([{**EVENT, "ts": -500}, EVENT], "--json")
    assert json.loads(result.stdout)["time_offset_ns"] == 500_000
    begun = (tmp_path / "out.txt").read_text().splitlines()[0]
    assert b"time_offset=500000".hex() in begun
    assert "moved by 500000 ns" in convert([{**EVENT, "ts": -500}], "-f").stderr


def test_a_conversion_bounds_the_memory_of_sorting(convert, tmp_path):
    convert([EVENT])
    begun = (tmp_path / "out.txt").read_text().splitlines()[0]
    assert b"memory=128M\n".hex() in begun
    assert b"time_offset".hex() not in begun


def test_nsight_reports_take_negative_times_as_they_are(tmp_path, recorder, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begun = {}

    def noted(path, *, config, **options):
        begun.update(config=config)
        return open_session(tmp_path / "recorded.txt", backend=recorder, **options)

    monkeypatch.setattr(_convert, "open_session", noted)
    (tmp_path / "in.json").write_text(json.dumps([{**EVENT, "ts": -500}]))
    command = ["convert", "in.json", "-o", "out.nsys-rep", "--json"]
    result = CliRunner().invoke(main, command)
    assert json.loads(result.stdout)["time_offset_ns"] == 0
    assert begun == {"config": {}}


@pytest.mark.parametrize(
    ("events", "options", "told"),
    [
        ("name,ts\n", (), "which no importer knows"),
        ([{**EVENT, "dur": -1}], ("--on-error", "raise"), "event 0: its duration is -1000 ns"),
    ],
)
def test_refused_inputs_exit_with_1_and_leave_no_output(convert, tmp_path, events, options, told):
    result = convert(events, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("nvtx-replay: ")
    assert told in result.stderr
    assert not (tmp_path / "out.txt").exists()


def test_a_backend_that_is_missing_exits_with_1(convert, monkeypatch):
    monkeypatch.setenv("NVTXW3_LIBRARY", "/nowhere/lib.so")
    result = convert([EVENT])
    assert result.exit_code == 1
    assert "/nowhere/lib.so" in result.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--unit", "hours"), "'hours' is not one of"),
        (("--clip", "-1"), "-1 is not in the range"),
        (("--on-error", "ignore"), "'ignore' is not one of"),
        (("--nonsense",), "No such option"),
    ],
)
def test_wrong_usage_exits_with_2(convert, options, told):
    result = convert([EVENT], *options)
    assert result.exit_code == 2
    assert told in result.stderr


def test_an_existing_output_is_replaced_only_with_force(convert, tmp_path):
    (tmp_path / "out.txt").write_text("precious")
    result = convert([EVENT])
    assert (result.exit_code, (tmp_path / "out.txt").read_text()) == (2, "precious")
    assert "out.txt exists; pass -f to replace it" in result.stderr
    assert convert([EVENT], "-f").exit_code == 0
    assert "SessionBegin" in (tmp_path / "out.txt").read_text()


def test_the_input_is_never_its_own_output(convert, tmp_path):
    (tmp_path / "out.txt").symlink_to("in.json")
    result = convert([EVENT], "-f")
    assert result.exit_code == 2
    assert json.loads((tmp_path / "in.json").read_text()) == [EVENT]


def test_a_pipe_is_refused_with_advice(convert, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    result = CliRunner().invoke(main, ["convert", "pipe", "-o", "out.txt"])
    assert result.exit_code == 1
    assert "save a pipe's data to a file first" in result.stderr


def test_options_reach_the_import(convert):
    events = [{**EVENT, "ts": 0, "dur": 10}, {**EVENT, "ts": 5, "dur": 6}]
    clipped = json.loads(convert(events, "--json", "--unit", "ns", "--clip", "1").stdout)
    assert clipped["contents"]["span_ns"] == 11
    assert clipped["repaired"] == {"clipped": 1}
    skipped = convert([{**EVENT, "dur": -1}], "-f", "--on-error", "skip")
    assert skipped.exit_code == 3


def test_what_the_backend_lost_is_a_loss(convert, monkeypatch):
    real = _convert.open_session

    def failing(path, *, config, **options):
        return real(path, config={**(config or {}), "fail": "SessionEnd"}, **options)

    monkeypatch.setattr(_convert, "open_session", failing)
    result = convert([EVENT], "--json")
    assert result.exit_code == 3
    assert "SessionEnd failed" in json.loads(result.stdout)["backend_loss"]


def test_gzip_inputs_and_empty_ones_convert(convert, tmp_path):
    result = convert([])
    assert result.exit_code == 0
    assert "no events\nnote: no timed events" in result.stderr
    (tmp_path / "packed.json").write_bytes(gzip.compress(json.dumps([EVENT]).encode()))
    result = CliRunner().invoke(main, ["convert", "packed.json", "-o", "other.txt"])
    assert (result.exit_code, "1 range" in result.stderr) == (0, True)
