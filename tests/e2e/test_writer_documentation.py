# SPDX-License-Identifier: Apache-2.0
"""What the nvtx documentation shows of its writer, written and read back exactly.

The calls and values are those of https://nvidia.github.io/NVTX/python/writer.html
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import nvtx
import pytest
from nvtx.writer import Domain, Session, Stream
from support import PacketTrace, Trace

OpenSession = Callable[..., Session]
Load = Callable[[Path], Trace]
STREAM = (None, None, ("Example Writer", "My Stream"))
ASYNC = (None, None, ("Example Writer", "My Stream", "start/end ranges"))


def write_basic_events(_domain: Domain, stream: Stream) -> None:
    stream.write_mark(100, message="My Mark")
    stream.write_pushpop(start=200, end=500, message="My Message", color="green")


def write_counters(domain: Domain, stream: Stream) -> None:
    counter = domain.get_counter("My Counter", int)
    stream.write_counter_sample(counter, timestamp=600, value=12)
    stream.write_counter_batch(counter, [10, 8, 4], timestamps=[700, 800, 900])


def write_generic_event(domain: Domain, stream: Stream) -> None:
    begin = nvtx.numpy_dtype(np.int64, entry_kind=nvtx.EntryKind.RANGE_BEGIN)
    end = nvtx.numpy_dtype(np.int64, entry_kind=nvtx.EntryKind.RANGE_END)
    message = nvtx.numpy_dtype((np.str_, 32), entry_kind=nvtx.EntryKind.MESSAGE)
    dtype = np.dtype(
        [
            ("start", begin),
            ("end", end),
            ("message", message),
            ("items", np.int64),
            ("input_bytes", np.int64),
        ]
    )
    schema = domain.get_schema(dtype, kind=nvtx.EventKind.RANGE_STARTEND)
    stream.write_event(schema, (1_000, 1_500, "process items", 64, 16_384))


@pytest.fixture
def path(tmp_path: Path, open_session: OpenSession) -> Path:
    """The page's examples, one after the other, on its one stream."""
    output = tmp_path / "documentation.pftrace"
    with open_session(output, "Example Writer") as session:
        domain = session.get_domain("My Domain")
        with session.create_stream("My Stream", domain=domain) as stream:
            write_basic_events(domain, stream)
            write_counters(domain, stream)
            write_generic_event(domain, stream)
    return output


def test_events_read_back_whole(path: Path, load: Load) -> None:
    trace = load(path)
    green = (("nvtx_color", "str", "'#00008000'"),)  # nvtx's names of colours have no alpha
    items = (("payload.input_bytes", "int", "16384"), ("payload.items", "int", "64"))
    assert trace.problems == {}
    assert [row.row() for row in trace.slices if row.category == "My Domain"] == [
        (*STREAM, 0, None, "My Mark", "My Domain", 100, 0, ()),
        (*STREAM, 0, None, "My Message", "My Domain", 200, 300, green),
        (*ASYNC, 0, None, "process items", "My Domain", 1_000, 500, items),
    ]


def test_counters_read_back_whole(path: Path, load: Load) -> None:
    trace = load(path)
    assert [(sample.track.path[-1], sample.ts, sample.value) for sample in trace.counters] == [
        ("My Counter", 600, 12.0),
        ("My Counter", 700, 10.0),
        ("My Counter", 800, 8.0),
        ("My Counter", 900, 4.0),
    ]
    assert {sample.track.path[:2] for sample in trace.counters} == {STREAM[2]}


def test_nothing_is_left_to_the_engine_to_forgive(path: Path) -> None:
    assert PacketTrace.read(path).faults == []
