# SPDX-License-Identifier: Apache-2.0
"""Recorded counters, written to a stream, come back from the file as the frame has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import nvtx_replay
import nvtx_schema as nvs
import pandas as pd
import pytest
from nvtx import CounterNoValueReason, TimestampType
from nvtx.writer import Session
from nvtx_torch_counters import CounterSampler, FunctionProbe, ProcessMemory, Unavailable
from support import PacketTrace, Trace, Track

OpenSession = Callable[..., Session]
Load = Callable[[Path], Trace]
ZERO, UNCHANGED, UNAVAILABLE = CounterNoValueReason
REALTIME = TimestampType.CPU_CLOCK_GETTIME_REALTIME
MONOTONIC = TimestampType.CPU_CLOCK_GETTIME_MONOTONIC
BIG = 2**53 + 1  # what the engine, which counts in doubles, cannot hold


def sampled(*answers: Any) -> CounterSampler:
    """A stopped sampler of this process's memory and of a probe that gave these answers."""
    left = list(answers)

    def read() -> Any:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    fields = {
        "used": nvs.value(np.int64, unit="bytes", min=0, max=1 << 60),
        "share": nvs.value(np.float64, unit="percent", min=0.0, max=100.0),
    }
    sampler = CounterSampler([FunctionProbe("pool", fields, read), ProcessMemory()])
    for _ in answers[1:]:
        sampler.step()
    sampler.stop()
    return sampler


def whole(frame: pd.DataFrame, clock: str) -> dict[str, list[object]]:
    """Every counter's rows in a frame, None where unknown, without the rows of other groups."""
    found: dict[str, list[object]] = {}
    for name in [column for column in frame.columns if "." in column]:
        group = name.partition(".")[0]
        own = frame["gap"].str.startswith(f"{group}: ").fillna(False)
        own |= frame.filter(regex=rf"^{group}\.").notna().any(axis=1)
        rows = zip(frame[clock][own], frame[name][own], strict=True)
        found[name] = [(int(ts), None if value is pd.NA else value) for ts, value in rows]
    return found


def limits(track: Track) -> str:
    return str(track.description).partition(";")[0].removeprefix("limits: ")


def write_raw(sampler: CounterSampler, output: Path, open_session: OpenSession) -> int:
    with open_session(output) as session:
        domain = session.get_domain("counted")
        with session.create_stream("s", domain=domain, time_domain_id=REALTIME) as stream:
            return sampler.write_to(stream, domain=domain)


def write_monotonic(sampler: CounterSampler, output: Path, open_session: OpenSession) -> int:
    with open_session(output) as session:
        domain = session.get_domain("counted")
        with session.create_stream("s", domain=domain, time_domain_id=MONOTONIC) as stream:
            return sampler.write_to(stream, domain=domain, clock="monotonic")


def write_replayed(sampler: CounterSampler, output: Path, _: OpenSession) -> int:
    with (
        nvtx_replay.open_session(output, name="session") as session,
        session.stream("s", domain="counted", time_domain="realtime") as stream,
    ):
        return sampler.write_to(stream)


@pytest.mark.parametrize(
    ("write", "clock"),
    [(write_raw, "time"), (write_replayed, "time"), (write_monotonic, "monotonic")],
)
def test_whole_series_equal_the_frame_with_gaps_zeros_and_repeated_values(
    tmp_path: Path, load: Load, open_session: OpenSession, write: Any, clock: str
) -> None:
    asleep = Unavailable("asleep")
    answers = [UNCHANGED, (5, 0.25), UNCHANGED, asleep, UNCHANGED, ZERO, UNCHANGED, (7, None)]
    sampler = sampled(*answers, UNAVAILABLE, (1 << 50, 100.0))
    assert write(sampler, tmp_path / "t.pftrace", open_session) == 20
    trace = load(tmp_path / "t.pftrace")
    found = {path[-1]: rows for path, rows in trace.series().items()}
    assert found == whole(sampler.to_frame(), clock)
    values = [value for _, value in found["pool.used"]]
    assert values == [None, 5, 5, None, 5, 0, 0, 7, None, 1 << 50]
    shares = [value for _, value in found["pool.share"]]
    assert shares == [None, 0.25, 0.25, None, 0.25, 0, 0, None, None, 100]
    tracks = {sample.track.name: sample.track for sample in trace.counters}
    assert {name: (t.path[:-1], t.unit, limits(t)) for name, t in tracks.items()} == {
        "pool.used": (("session", "s"), "bytes", f"min 0, max {1 << 60}"),
        "pool.share": (("session", "s"), "percent", "min 0, max 100"),
        "process memory.rss": (("session", "s"), "bytes", "min 0"),
        "process memory.shared": (("session", "s"), "bytes", "min 0"),
    }
    assert trace.problems == {}
    assert PacketTrace.read(tmp_path / "t.pftrace").faults == []


def test_integers_that_no_double_holds_are_exact_in_the_file(
    tmp_path: Path, open_session: OpenSession
) -> None:
    sampler = sampled((BIG, 1.0), (BIG + 2, 2.0), (-BIG, 3.0))
    write_raw(sampler, tmp_path / "t.pftrace", open_session)
    trace = PacketTrace.read(tmp_path / "t.pftrace")
    (used,) = trace.tracks_named("pool.used")
    values = [event.value for event in trace.events if event.track == used]
    assert values == [BIG, BIG + 2, -BIG] == sampler.to_frame()["pool.used"].dropna().tolist()
