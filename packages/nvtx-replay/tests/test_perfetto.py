# SPDX-License-Identifier: Apache-2.0
"""Sessions on the real Perfetto backend, read back by Perfetto's own protobufs."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nvtx_replay import BackendError, open_session

nvtx_perfetto = pytest.importorskip("nvtx_perfetto", reason="needs nvtx-perfetto")
pytest.importorskip("perfetto", reason="needs Perfetto's protobufs")

from perfetto_trace import PerfettoTrace  # noqa: E402 - needs the package looked for above

REQUESTS = {
    "start": [2_500, 1_000, 2_000],
    "end": [2_700, 5_000, 4_000],
    "message": ["GET /", "main", "GET /"],
    "bytes": [None, 512, 80],
    "kind": ["io", "io", ""],
}


def test_a_table_is_the_slices_of_a_trace(tmp_path):
    session = open_session(tmp_path / "a.pftrace", name="run")
    with session, session.stream("w", domain="server", time_domain="realtime") as stream:
        stream.write_ranges(REQUESTS, category="kind")
        stream.write_mark(1_500, message="deploy")
    trace = PerfettoTrace(tmp_path / "a.pftrace")
    assert sorted(trace.slices, key=lambda row: row[2]) == [
        ("w", "main", 1_000, 5_000, {"payload.bytes": 512, "category": "server,io"}),
        ("w", "GET /", 2_000, 4_000, {"payload.bytes": 80, "category": "server"}),
        ("w", "GET /", 2_500, 2_700, {"category": "server,io"}),
    ]
    assert trace.instants[0] == ("w", "deploy", 1_500, {"category": "server"})


def test_a_table_of_samples_is_counter_tracks_with_gaps(tmp_path):
    table = {"time": [3, 1, 2], "used": [30, 10, None], "load": [0.5, math.nan, 2]}
    with open_session(tmp_path / "a.pftrace") as session, session.stream("w") as stream:
        stream.write_counters(table, units={"used": "bytes"})
    trace = PerfettoTrace(tmp_path / "a.pftrace")
    used = sorted((t, None if math.isnan(v) else v) for n, t, v in trace.samples if n == "used")
    load = sorted((t, None if math.isnan(v) else v) for n, t, v in trace.samples if n == "load")
    assert used == [(1, 10), (2, None), (3, 30)]
    assert load == [(1, None), (2, 2), (3, 0.5)]
    assert trace.units == {"used": "bytes", "load": ""}


def test_options_reach_the_backend(tmp_path):
    session = open_session(tmp_path / "a.pftrace", config={"time_offset": 100})
    with session, session.stream("w") as stream:
        stream.write_mark(-40, message="early")
    found = PerfettoTrace(tmp_path / "a.pftrace").instants
    assert ("w", "early", 60, {"category": "NVTX"}) in found


def test_an_output_that_cannot_be_written_is_told_in_the_backend_s_words(tmp_path):
    session = open_session(tmp_path / "absent" / "a.pftrace")
    with pytest.raises(BackendError, match=r"SessionBegin failed: .*absent.*a\.pftrace"):
        session.begin()


def test_streams_on_unrelated_clocks_are_refused_in_the_backend_s_words(tmp_path):
    with open_session(tmp_path / "a.pftrace") as session:
        session.stream("a", time_domain="realtime").open()
        other = session.stream("b", time_domain="monotonic")
        with pytest.raises(BackendError, match=r"StreamOpen failed: .*clock"):
            other.open()


def test_an_event_before_the_trace_can_begin_is_told_at_the_end(tmp_path):
    session = open_session(tmp_path / "a.pftrace")
    session.begin()
    with session.stream("w") as stream:
        stream.write_mark(-1)
    with pytest.raises(BackendError, match=r"SessionEnd failed: .*1 dropped_times.*time_offset"):
        session.end()


TABLES = st.lists(
    st.tuples(
        st.integers(0, 50),
        st.integers(0, 50),
        st.none() | st.sampled_from(["a", "b", "a name of some length"]),
        st.none() | st.integers(-(2**63), 2**63 - 1),
    ),
    min_size=1,
    max_size=30,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=TABLES)
def test_any_table_comes_back_exactly(tmp_path, rows):
    starts, lengths, messages, numbers = map(list, zip(*rows, strict=True))
    table = {"start": starts, "dur": lengths, "message": messages, "n": numbers}
    session = open_session(tmp_path / "a.pftrace", overwrite=True)
    with session, session.stream("w", domain="d") as stream:
        stream.write_ranges(table, duration="dur", kind="startend")
    expected = [
        ("w", m or "", s, s + d, {"category": "d"} | ({} if n is None else {"payload.n": n}))
        for s, d, m, n in rows
    ]
    found = PerfettoTrace(tmp_path / "a.pftrace").slices
    assert sorted(found, key=_flat) == sorted(expected, key=_flat)


def _flat(row):
    """Return a row as text, whatever the order of its arguments."""
    return repr([*row[:-1], sorted(row[-1].items())])
