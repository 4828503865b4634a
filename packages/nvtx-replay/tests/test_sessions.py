# SPDX-License-Identifier: Apache-2.0
"""Sessions and streams: options, names, and the raw objects underneath."""

import threading

import nvtx
import nvtx.writer
import pytest
from nvtx_replay import ConfigError, StreamError
from nvtx_replay._strings import StringStore


def test_config_travels_as_lines_with_output_and_overwrite_last(opened, recorded, tmp_path):
    with opened(config={"memory": "1M", "time_offset": -5, "clock_snapshot": "host"}, name="n"):
        pass
    (begin,) = recorded().members("SessionBegin")
    assert begin.values["name"] == "n"
    assert begin.values["config"].splitlines() == [
        "memory=1M",
        "time_offset=-5",
        "clock_snapshot=host",
        f"output={tmp_path / 'calls.txt'}",
        "overwrite=1",
    ]


@pytest.mark.parametrize(
    "config", ["a=b", {"a|b": 1}, {"a": "x\ny"}, {"": 1}, {"a=b": 1}, {"a": "x|y"}]
)
def test_config_that_would_be_read_as_something_else_is_refused(opened, config):
    with pytest.raises(ConfigError):
        opened(config=config)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("none", nvtx.TimestampType.NONE),
        ("realtime", nvtx.TimestampType.CPU_CLOCK_GETTIME_REALTIME),
        ("monotonic", nvtx.TimestampType.CPU_CLOCK_GETTIME_MONOTONIC),
        ("monotonic_raw", nvtx.TimestampType.CPU_CLOCK_GETTIME_MONOTONIC_RAW),
        ("boottime", nvtx.TimestampType.CPU_CLOCK_GETTIME_BOOTTIME),
        (nvtx.TimestampType.GPU_GLOBALTIMER, nvtx.TimestampType.GPU_GLOBALTIMER),
    ],
)
def test_time_domains_by_name_and_type(opened, recorded, given, sent):
    with opened() as session, session.stream("s", time_domain=given):
        pass
    (stream,) = recorded().members("StreamOpen")
    assert stream.values["time"] == sent.value


@pytest.mark.parametrize(
    "options",
    [{"time_domain": "utc"}, {"time_domain": 1.5}, {"ordering": "sorted"}, {"on_error": "ignore"}],
)
def test_an_unknown_option_is_refused_with_the_known_ones(opened, options):
    with opened() as session, pytest.raises(ConfigError, match="expected"):
        session.stream("s", **options)


def test_a_second_stream_of_one_name_is_refused_or_numbered(opened, recorded):
    with opened() as session:
        session.stream("s").open()
        with pytest.raises(StreamError, match="named 's'"):
            session.stream("s")
        with pytest.raises(StreamError):
            session.stream("s", domain="other", on_error="skip")
        session.stream("s", on_error="repair").open()
        third = session.stream("s", on_error="repair")
    names = [call.values["name"] for call in recorded().members("StreamOpen")]
    assert names == ["s", "s #2"]
    assert third.name == "s #3"
    assert session.report.repaired == {"duplicate_stream_name": 2}


def test_a_scope_may_be_a_path(opened, recorded):
    with opened() as session, session.stream("s", domain="d", scope="process[12] train"):
        pass
    (scope,) = recorded().members("ScopeRegister")
    (stream,) = recorded().members("StreamOpen")
    assert scope.values["path"] == "process[12] train"
    assert stream.values["scope"] == scope.values["id"]


def test_raw_objects_are_those_of_nvtx_writer(opened, recorded):
    with opened() as session:
        assert type(session.raw) is nvtx.writer.Session
        assert session.get_domain("d") is session.raw.get_domain("d")
        raw = session.create_stream("unchecked", domain="d")
        assert type(raw) is nvtx.writer.Stream
        with session.stream("s", domain=session.get_domain("d")) as stream, raw:
            assert type(stream.raw) is nvtx.writer.Stream
            assert stream.domain is session.get_domain("d")
            stream.raw.write_pop(1)
            raw.write_mark(2)
    assert [event["kind"] for event in recorded().events] == ["pop", "mark"]


def test_ending_the_session_closes_open_streams_and_settles_their_ranges(opened, recorded):
    session = opened(on_error="repair")
    session.begin()
    stream = session.stream("s")
    stream.open()
    stream.write_push(1)
    session.end()
    assert [e["kind"] for e in recorded().events] == ["push", "pop"]
    assert [c.member for c in recorded().calls[-2:]] == ["StreamClose", "SessionEnd"]


def test_unknown_attributes_are_attribute_errors(opened):
    with opened() as session, session.stream("s") as stream:
        for thing in (session, stream):
            with pytest.raises(AttributeError):
                thing.no_such_thing  # noqa: B018 - looking it up is the test


def test_the_report_reads_well():
    from nvtx_replay import Report

    report = Report()
    assert str(report) == "nothing skipped, nothing repaired"
    assert not report
    report.skip("missing_timestamp", 2, "row 1 has no value")
    report.skip("missing_timestamp", 0, "never")
    assert report
    assert str(report) == "skipped 2 x missing_timestamp: row 1 has no value"


def test_ending_twice_is_an_error_but_leaving_an_ended_block_is_not(opened, recorded):
    with opened() as session, session.stream("s") as stream:
        stream.write_mark(1)
        session.end()
        with pytest.raises(RuntimeError, match="not active"):
            session.end()
    assert [call.member for call in recorded().calls].count("SessionEnd") == 1


def test_a_session_that_is_begun_again_starts_afresh(opened, recorded):
    session = opened()
    for _ in range(2):
        with session, session.stream("s") as stream:
            stream.write_marks({"time": [1, 2], "message": ["m", "m"]})
        assert [row["message"] for row in recorded().events] == ["m", "m"]


def test_closing_the_backend_ends_the_session(recorder, opened, recorded):
    backend = nvtx.writer.load_backend(recorder)
    with opened(backend=backend) as session, session.stream("s") as stream:
        stream.write_mark(1)
        backend.close()
    assert recorded().calls[-1].member == "SessionEnd"


class _Domain:
    """A domain that counts what is registered, slowly enough for threads to meet."""

    def __init__(self):
        self.registered = []

    def get_registered_string(self, text):
        self.registered.append(text)
        return type("Handle", (), {"handle": len(self.registered)})


def test_threads_share_a_domain_s_registered_strings_within_its_bound():
    domain = _Domain()
    store = StringStore(domain, limit=10)
    barrier = threading.Barrier(8)
    handles = [{} for _ in range(8)]

    def work(mine):
        barrier.wait()
        for number in range(30):
            text = f"m{number}"
            if store.admit_all([text]):
                mine[text] = store.handle(text)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in handles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(domain.registered) == len(set(domain.registered)) == 10
    assert all(mine == handles[0] for mine in handles)
