# SPDX-License-Identifier: Apache-2.0
"""Every key of a session's configuration."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import nvtx.writer
import nvtx_perfetto
import pytest
from sessions import MONOTONIC, REALTIME, run, session, stream
from traces import read


def test_output_names_the_file(tmp_path: Path) -> None:
    with session(tmp_path / "named.pftrace"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["named.pftrace"]


def test_without_output_the_session_s_name_is_the_file_s(tmp_path: Path) -> None:
    script = (
        "import nvtx.writer, nvtx_perfetto\n"
        "backend = nvtx.writer.load_backend(nvtx_perfetto.library_path())\n"
        "with nvtx.writer.Session('a/b c', backend=backend): pass\n"
    )
    assert run(script, cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a_b c.pftrace"]


def test_an_existing_output_needs_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("precious")
    with pytest.raises(nvtx.writer.WriterError), session(path):
        pass
    assert "overwrite=1" in nvtx_perfetto.last_error()
    assert path.read_text() == "precious"
    with session(path, "overwrite=1"):
        pass
    assert read(path).summary == {}


def test_time_offset_is_added_to_every_time_and_told(tmp_path: Path) -> None:
    with stream(tmp_path / "t", "time_offset=1000") as main:
        main.write_mark(-1000, message="first")
        main.write_pushpop(-5, 5, message="range")
    trace = read(tmp_path / "t")
    assert trace.ranges() == {"first": (0, 0), "range": (995, 1005)}
    assert trace.summary["time_offset_ns"] == 1000


def test_clock_snapshot_ties_the_host_s_clocks(tmp_path: Path) -> None:
    with session(tmp_path / "t", "clock_snapshot=host") as begun:
        for name, clock in (("mono", MONOTONIC), ("real", REALTIME)):
            with begun.create_stream(name, time_domain_id=clock) as opened:
                opened.write_mark(10**12, message=name)
    trace = read(tmp_path / "t")
    assert trace.primary_clock == 1
    assert [sorted(snapshot) for snapshot in trace.snapshots] == [[1, 3, 5, 6]]


def test_a_counter_of_differences_adds_up_over_the_host_s_clocks(tmp_path: Path) -> None:
    with session(tmp_path / "t", "clock_snapshot=host") as begun:
        domain = begun.get_domain("dom")
        delta = nvtx.CounterSemantics(value_type=nvtx.CounterValueType.DELTA)
        counter = domain.get_counter("c", int, semantics=delta, scope=domain.get_scope("gpu"))
        options = {"domain": "dom"}
        mono = begun.create_stream("mono", time_domain_id=MONOTONIC, **options)
        real = begun.create_stream("real", time_domain_id=REALTIME, **options)
        now, ahead = time.clock_gettime_ns(time.CLOCK_REALTIME), 10**12
        with mono, real:
            real.write_counter_sample(counter, now + 2 * ahead, 100)
            mono.write_counter_sample(counter, time.monotonic_ns() + ahead, 10)
            real.write_counter_sample(counter, now, 1)
    assert [value for _, value in read(tmp_path / "t").series("c")] == [1, 11, 111]


def test_without_it_no_clock_of_the_machine_is_read(tmp_path: Path) -> None:
    with stream(tmp_path / "t") as main:
        main.write_mark(1, message="m")
    trace = read(tmp_path / "t")
    assert trace.snapshots == [{1: 1}] or all(set(each) == {1} for each in trace.snapshots)
    assert trace.primary_clock == 1


def test_max_size_stops_recording_and_counts_what_was_dropped(tmp_path: Path) -> None:
    def write() -> None:
        strict = nvtx.writer.StreamOrdering.STRICT
        with stream(tmp_path / "t", "max_size=100K", ordering=strict) as main:
            for i in range(20_000):
                main.write_mark(i, message=f"mark {i}")

    with pytest.raises(nvtx.writer.WriterError):
        write()
    trace = read(tmp_path / "t")
    dropped = trace.summary["dropped_over_limit"]
    assert dropped > 0
    assert trace.summary["events"] + dropped == 20_000
    assert (tmp_path / "t").stat().st_size < 400_000


def test_memory_bounds_sorting_and_the_runs_are_counted(tmp_path: Path) -> None:
    random = Random(3)
    times = random.sample(range(10**12), 30_000)
    # Sorted rows are packed, which random names resist.
    names = {time: random.randbytes(40).hex() for time in times}
    with stream(tmp_path / "t", "memory=1M") as main:
        for time in times:
            main.write_mark(time, message=names[time])
    trace = read(tmp_path / "t")
    assert trace.summary.pop("spilled_runs") >= 2
    assert trace.summary == {"events": len(times)}
    marks = [(event.time, event.name) for event in trace.events[:-1]]
    assert marks == [(time, names[time]) for time in sorted(times)]


@pytest.mark.parametrize("entry", ["memory=1", "time_offset=soon", "overwrite=maybe", "max_size=x"])
def test_a_value_that_is_none_is_refused_with_what_was_expected(tmp_path: Path, entry: str) -> None:
    with pytest.raises(nvtx.writer.WriterError), session(tmp_path / "t", entry):
        pass
    assert entry in nvtx_perfetto.last_error()
    assert not (tmp_path / "t").exists()
