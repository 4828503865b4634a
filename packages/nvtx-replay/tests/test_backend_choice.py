# SPDX-License-Identifier: Apache-2.0
"""Which backend is chosen, and what an error says where none is."""

import sys

import nvtx.writer
import pytest
from nvtx_replay import BackendError, BackendNotFoundError, ConfigError, open_session
from recording import Recording


def _marked(session):
    with session, session.stream("s") as stream:
        stream.write_mark(1)


def test_a_path_or_a_loaded_backend_is_used(recorder, tmp_path):
    for backend in (recorder, str(recorder), nvtx.writer.load_backend(recorder)):
        _marked(open_session(tmp_path / "a.txt", backend=backend, overwrite=True))
        assert len(Recording(tmp_path / "a.txt").events) == 1


def test_the_variable_comes_before_the_suffix(recorder, tmp_path, monkeypatch):
    monkeypatch.setenv("NVTXW3_LIBRARY", str(recorder))
    _marked(open_session(tmp_path / "a.nsys-rep"))
    (begin,) = Recording(tmp_path / "a.nsys-rep").members("SessionBegin")
    assert begin.values["name"] == str(tmp_path / "a")


def test_the_argument_comes_before_the_variable(recorder, tmp_path, monkeypatch):
    monkeypatch.setenv("NVTXW3_LIBRARY", str(tmp_path / "absent.so"))
    _marked(open_session(tmp_path / "a.txt", backend=recorder))
    with pytest.raises(
        BackendNotFoundError, match=r"absent\.so.* NVTXW3_LIBRARY, cannot be loaded"
    ):
        open_session(tmp_path / "b.txt")


@pytest.mark.parametrize("content", [b"", b"no library"])
def test_a_file_that_is_no_library_is_named(tmp_path, content):
    (tmp_path / "lib.so").write_bytes(content)
    with pytest.raises(BackendNotFoundError, match=r"lib\.so', named by the backend= argument"):
        open_session(tmp_path / "a.txt", backend=tmp_path / "lib.so")


def test_without_any_backend_for_nsys_the_error_lists_what_was_tried(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nsys_writer", None)
    with pytest.raises(BackendNotFoundError) as caught:
        open_session(tmp_path / "a.nsys-rep")
    for tried in ("backend=", "NVTXW3_LIBRARY", "NSYS_WRITER_BACKEND", "nsys_writer", ".pftrace"):
        assert tried in str(caught.value)


def test_without_nvtx_perfetto_the_error_lists_what_was_tried(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx_perfetto", None)
    with pytest.raises(BackendNotFoundError) as caught:
        open_session(tmp_path / "a.pftrace")
    for tried in ("backend=", "NVTXW3_LIBRARY", "nvtx_perfetto", "Install nvtx-perfetto"):
        assert tried in str(caught.value)


def test_the_library_of_nsight_systems_alone_takes_the_name_without_suffix(
    recorder, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "nsys_writer", None)
    monkeypatch.setenv("NSYS_WRITER_BACKEND", str(recorder))
    _marked(open_session(tmp_path / "a.nsys-rep"))
    (begin,) = Recording(tmp_path / "a.nsys-rep").members("SessionBegin")
    assert begin.values["name"] == str(tmp_path / "a")
    with pytest.raises(ConfigError, match=r"report_merge.*nsys_writer"):
        open_session(tmp_path / "b.nsys-rep", config={"report_merge": "c.nsys-rep"})


STAND_IN = """
import os
import nvtx.writer

calls = []

class Session(nvtx.writer.Session):
    '''What Nsight Systems documents: name without suffix, report_merge, time_base.'''

    def __init__(self, name, report_merge=None, time_base="UTC"):
        calls.append((name, report_merge, time_base))
        backend = nvtx.writer.load_backend(os.environ["NSYS_WRITER_BACKEND"])
        super().__init__(name, backend=backend, config=f"output={name}.nsys-rep")

    def create_stream(self, name, *, domain=None, scope=None, time_domain_id=0):
        calls.append((name, time_domain_id))
        return super().create_stream(
            name, domain=domain, scope=scope, time_domain_id=time_domain_id
        )
"""


def test_the_package_of_nsight_systems_gets_what_it_documents(recorder, tmp_path, monkeypatch):
    (tmp_path / "nsys_writer.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NSYS_WRITER_BACKEND", str(recorder))
    config = {"report_merge": tmp_path / "old.nsys-rep", "time_base": "RELATIVE"}
    _marked(open_session(tmp_path / "a.nsys-rep", config=config))
    import nsys_writer

    assert nsys_writer.calls[0] == (str(tmp_path / "a"), tmp_path / "old.nsys-rep", "RELATIVE")
    assert nsys_writer.calls[1][0] == "s"
    assert len(Recording(tmp_path / "a.nsys-rep").events) == 1
    with pytest.raises(ConfigError, match="exists"):
        open_session(tmp_path / "a.nsys-rep")
    monkeypatch.delitem(sys.modules, "nsys_writer")


def test_a_session_that_cannot_begin_says_which_backend_failed(opened, recorder):
    with pytest.raises(BackendError, match=r"SessionBegin failed: .*librecorder") as caught:
        opened(config={"fail": "SessionBegin"}).begin()
    assert caught.value.operation == "SessionBegin"
    assert caught.value.result_code == 1


def test_the_backend_s_own_words_are_in_the_error(opened, recorder, monkeypatch):
    import types

    ours = types.ModuleType("nvtx_perfetto")
    ours.library_path = lambda: recorder
    ours.last_error = lambda: "the disk is full"
    monkeypatch.setitem(sys.modules, "nvtx_perfetto", ours)
    with pytest.raises(BackendError, match="SessionBegin failed: the disk is full"):
        opened(backend=None, config={"fail": "SessionBegin"}).begin()
    session = opened(backend=None, config={"fail": "SessionEnd"})
    session.begin()
    with pytest.raises(BackendError, match="SessionEnd failed: the disk is full"):
        session.end()
    with opened(backend=None, config={"fail": "StreamOpen"}) as session:
        stream = session.stream("s")
        with pytest.raises(BackendError, match="StreamOpen failed: the disk is full"):
            stream.open()


def test_an_existing_output_is_kept_unless_told_otherwise(recorder, tmp_path):
    (tmp_path / "a.txt").write_text("mine")
    with pytest.raises(ConfigError, match="overwrite=True"):
        open_session(tmp_path / "a.txt", backend=recorder)
    assert (tmp_path / "a.txt").read_text() == "mine"
