# SPDX-License-Identifier: Apache-2.0
"""Outputs that cannot be written, or not any more."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nvtx.writer
import nvtx_perfetto
import pytest
from sessions import session, stream
from traces import read


def test_two_sessions_on_one_path_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with stream(path) as main:
        main.write_mark(1, message="first")
        with pytest.raises(nvtx.writer.WriterError), session(path, "overwrite=1"):
            pass
        assert "another session" in nvtx_perfetto.last_error()
    assert list(read(path).ranges()) == ["first"]


@pytest.mark.parametrize("path", ["/nowhere/at/all/t", "/", "/dev/null/t"])
def test_a_folder_that_is_none_fails_the_begin(path: str) -> None:
    with pytest.raises(nvtx.writer.WriterError), session(Path(path), "overwrite=1"):
        pass
    assert path in nvtx_perfetto.last_error()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_forbids_writing_fails_the_begin(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(nvtx.writer.WriterError), session(tmp_path / "t"):
        pass
    assert "Permission denied" in nvtx_perfetto.last_error()


def test_a_full_disk_fails_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(nvtx.writer.WriterError), stream(Path("/dev/full")) as main:
        main.write_mark(1, message="m")
    assert "No space left" in nvtx_perfetto.last_error()
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_folder_that_vanishes_fails_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()

    def write() -> None:
        with stream(folder / "t", "memory=64K") as main:
            shutil.rmtree(folder)
            for i in range(5000):
                main.write_mark(5000 - i, message="sorting needs a file here")

    with pytest.raises(nvtx.writer.WriterError):
        write()
    assert "deleted" in nvtx_perfetto.last_error()
