# SPDX-License-Identifier: Apache-2.0
"""Recorded samples as an NVTXW backend receives them, through the real nvtx.writer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import nvtx.writer
import nvtx_schema as nvs
import pytest
from compiled import library
from fake_clock import MS, FakeClock
from nvtx import CounterNoValueReason, TimestampType
from nvtx_torch_counters import CounterSampler, FunctionProbe, SinkError, Unavailable, write_samples
from recordings import counters

T0 = 1_000 * MS
REAL = 999_000 * MS
ZERO, UNCHANGED, UNAVAILABLE = (reason.value for reason in CounterNoValueReason)


@pytest.fixture(scope="session")
def backend_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library("recording_backend.c", tmp_path_factory.mktemp("backend") / "librecording.so")


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recording") / "calls.jsonl"


@pytest.fixture
def session(
    backend_path: Path, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[nvtx.writer.Session]:
    # The library stays loaded with the file that it opened first, so it is emptied, not changed.
    recording.write_text("")
    with monkeypatch.context() as patch:
        patch.setenv("RECORDING_OUTPUT", str(recording))
        backend = nvtx.writer.load_backend(backend_path)
        with nvtx.writer.Session("counted", backend=backend) as opened:
            yield opened


def stepped(clock: FakeClock, *answers: Any) -> CounterSampler:
    """Return a stopped sampler whose probe gave these answers, 5 ms apart."""
    left = list(answers)

    def read() -> Any:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    fields = {"used": nvs.value(np.int64, unit="bytes", min=0), "share": np.float64}
    sampler = CounterSampler([FunctionProbe("memory", fields, read)], clock=clock)
    for _ in answers[:-1]:
        sampler.step()
        clock.now += 5 * MS
    sampler.stop()
    return sampler


def test_rows_are_written_as_what_they_are_at_their_own_times(
    session: nvtx.writer.Session, recording: Path, clock: FakeClock
) -> None:
    sampler = stepped(
        clock,
        (2**53 + 1, 0.5),
        (2, 1.5),
        CounterNoValueReason.UNCHANGED,
        Unavailable("asleep"),
        CounterNoValueReason.ZERO,
        (3, 2.5),
    )
    domain = session.get_domain("counted")
    realtime = TimestampType.CPU_CLOCK_GETTIME_REALTIME
    with session.create_stream("s", domain=domain, time_domain_id=realtime) as stream:
        assert sampler.write_to(stream, domain=domain) == 6
    memory = counters(recording)["memory"]
    assert memory.fields["used"]["unit"] == "bytes"
    assert memory.fields["used"]["min"] == 0
    assert memory.samples == [
        (T0 + REAL, (2**53 + 1, 0.5)),
        (T0 + REAL + 5 * MS, (2, 1.5)),
        (T0 + REAL + 10 * MS, UNCHANGED),
        (T0 + REAL + 15 * MS, UNAVAILABLE),
        (T0 + REAL + 20 * MS, ZERO),
        (T0 + REAL + 25 * MS, (3, 2.5)),
    ]
    assert memory.batches == 2


def test_the_stamps_can_be_monotonic(
    session: nvtx.writer.Session, recording: Path, clock: FakeClock
) -> None:
    sampler = stepped(clock, (1, 0.5), (2, 1.5))
    with session.create_stream("s", domain="counted") as stream:
        sampler.write_to(stream, domain=session.get_domain("counted"), clock="monotonic")
    assert [time for time, _ in counters(recording)["memory"].samples] == [T0, T0 + 5 * MS]


def test_a_stream_that_shows_its_domain_needs_no_other(
    session: nvtx.writer.Session, recording: Path, clock: FakeClock
) -> None:
    class Wrapped:
        def __init__(self, stream: Any, domain: Any) -> None:
            self._stream = stream
            self.domain = domain

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

    sampler = stepped(clock, (1, 0.5), (2, 1.5))
    with session.create_stream("s", domain="counted") as stream:
        sampler.write_to(Wrapped(stream, session.get_domain("counted")))
    assert len(counters(recording)["memory"].samples) == 2


def test_what_cannot_be_written_is_said_with_what_to_pass(
    session: nvtx.writer.Session, clock: FakeClock
) -> None:
    sampler = stepped(clock, (1, 0.5), (2, 1.5))
    with session.create_stream("s", domain="counted") as stream:
        with pytest.raises(SinkError, match=r"session\.get_domain"):
            sampler.write_to(stream)
        with pytest.raises(SinkError, match="'realtime' or 'monotonic'"):
            sampler.write_to(stream, domain=session.get_domain("counted"), clock="gps")


def test_nothing_sampled_writes_counters_without_samples(
    session: nvtx.writer.Session, recording: Path
) -> None:
    sampler = CounterSampler([FunctionProbe("p", {"n": np.int64}, lambda: (1,))])
    domain = session.get_domain("counted")
    with session.create_stream("s", domain=domain) as stream:
        assert write_samples(stream, [sampler.samples("p")], domain=domain) == 0
    assert counters(recording)["p"].samples == []
