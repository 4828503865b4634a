# SPDX-License-Identifier: Apache-2.0
"""Streams from several threads, beyond their session, and with claims that break."""

from __future__ import annotations

import threading
from pathlib import Path

import nvtx.writer
import pytest
from sessions import REALTIME, session, stream
from traces import read


def test_distinct_streams_may_be_written_by_threads_at_once(tmp_path: Path) -> None:
    with session(tmp_path / "t", "memory=1M") as begun:

        def write(number: int) -> None:
            options = {"domain": f"dom {number % 2}", "time_domain_id": REALTIME}
            with begun.create_stream(f"stream {number}", **options) as opened:
                text = begun.get_domain(f"dom {number % 2}").get_registered_string(f"r{number}")
                for i in range(2000):
                    opened.write_pushpop(i * 10, i * 10 + 5, message=text)

        threads = [threading.Thread(target=write, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    trace = read(tmp_path / "t")
    for number in range(6):
        times = [e.time for e in trace.events if e.name == f"r{number}"]
        assert times == [i * 10 for i in range(2000)]


def test_a_session_ended_with_streams_open_writes_them(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun:
        opened = begun.create_stream("open", domain="dom", time_domain_id=REALTIME)
        opened.open()
        opened.write_mark(1, message="m")
        domain = begun.get_domain("dom")
    assert read(tmp_path / "t").ranges() == {"m": (1, 1)}
    with pytest.raises((nvtx.writer.WriterError, RuntimeError)):
        opened.write_mark(2, message="late")
    with pytest.raises((nvtx.writer.WriterError, RuntimeError)):
        domain.get_registered_string("late")


def test_stream_names_differ_within_a_session(tmp_path: Path) -> None:
    with session(tmp_path / "t") as begun, begun.create_stream("same"):
        again = begun.create_stream("same")
        with pytest.raises(nvtx.writer.WriterError):
            again.open()


def test_a_claim_that_breaks_is_counted_once_and_times_stay_exact(tmp_path: Path) -> None:
    with stream(tmp_path / "t", ordering=nvtx.writer.StreamOrdering.PACKED_RANGE_START) as main:
        for begin, end in ((0, 50), (60, 90), (20, 40), (10, 45), (100, 110)):
            main.write_pushpop(begin, end, message=f"{begin}")
    trace = read(tmp_path / "t")
    expected = {"0": (0, 50), "60": (60, 90), "20": (20, 40), "10": (10, 45), "100": (100, 110)}
    assert trace.ranges() == expected
    assert trace.summary["order_breaks"] == 1


def test_a_claim_that_is_kept_is_written_before_the_stream_closes(tmp_path: Path) -> None:
    with stream(tmp_path / "t", ordering=nvtx.writer.StreamOrdering.STRICT) as main:
        for i in range(50_000):
            main.write_mark(i, message="m")
        assert (tmp_path / "t").stat().st_size > 100_000
    assert "order_breaks" not in read(tmp_path / "t").summary
