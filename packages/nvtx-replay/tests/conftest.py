# SPDX-License-Identifier: Apache-2.0
"""The recording backend, compiled once a run, and sessions that write to it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nvtx_replay import Session, Stream, open_session
from recording import Recording

HERE = Path(__file__).parent


def _include() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for folder in sorted(Path(root).glob("cu*/include")):
            if (folder / "nvtxw3" / "nvtxw3.h").exists():
                return folder
    return None


@pytest.fixture(scope="session")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the recording backend."""
    compiler, include = os.environ.get("CC") or shutil.which("cc"), _include()
    if compiler is None:
        pytest.skip("no C compiler: set CC or install one to compile the recording backend")
    if include is None:
        pytest.skip("no NVTXW headers: install nvidia-nvtx to compile the recording backend")
    library = tmp_path_factory.mktemp("backend") / "librecorder.so"
    command = [compiler, "-std=c11", "-O1", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run([*command, str(HERE / "nvtxw_recorder.c"), "-o", str(library)], check=True)
    return library


Opener = Callable[..., Session]


@pytest.fixture
def opened(recorder: Path, tmp_path: Path) -> Opener:
    """Open a session on the recording backend, whose calls `recorded` reads."""

    def opener(**options: Any) -> Session:
        options.setdefault("backend", recorder)
        return open_session(tmp_path / "calls.txt", overwrite=True, **options)

    return opener


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[[], Recording]:
    """Read the calls of the session that `opened` opened last."""
    return lambda: Recording(tmp_path / "calls.txt")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the caller's choice of backend out of the tests."""
    monkeypatch.delenv("NVTXW3_LIBRARY", raising=False)
    monkeypatch.delenv("NSYS_WRITER_BACKEND", raising=False)


@pytest.fixture
def stream(opened: Opener) -> Iterator[Stream]:
    """A stream on the recording backend that raises at faults; calls are readable at once."""
    with opened() as session, session.stream("s") as stream:
        yield stream
