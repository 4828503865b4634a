# SPDX-License-Identifier: Apache-2.0
"""A recording NVTXW backend, compiled once, so that real nvtx.writer calls can be looked at."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import nvtx.writer
import pytest
from hypothesis import HealthCheck, settings

# Time is not what these tests measure, and a busy machine must not fail them.
settings.register_profile(
    "untimed", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


class Recorder:
    """An open session over the recording backend, and what the backend was given."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.recorder_text.restype = ctypes.c_char_p
        self._library.recorder_clear()
        self._backend = nvtx.writer.load_backend(library)
        self._session = nvtx.writer.Session("recorded", backend=self._backend)
        self._session.begin()
        self.domain = self._session.get_domain("trainer")
        self.stream = self._session.create_stream("stream", domain=self.domain)
        self.stream.open()

    def close(self) -> None:
        self.stream.close()
        self._session.end()

    def lines(self, mark: str = "") -> list[list[str]]:
        """Return the recorded calls that begin with a letter, split at spaces."""
        text = self._library.recorder_text().decode()
        return [line.split(" ") for line in text.splitlines() if line.startswith(mark)]

    def batch(self) -> bytes:
        """Return the bytes of the only event batch."""
        ((_, _, rows),) = self.lines("B")
        return bytes.fromhex(rows)


@pytest.fixture(scope="session")
def recorder_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc) to build the recording backend with")
    header = "nvidia/cu13/include/nvtxw3/nvtxw3.h"
    include = Path(str(distribution("nvidia-nvtx").locate_file(header))).parents[1]
    library = tmp_path_factory.mktemp("backend") / "librecorder.so"
    source = Path(__file__).with_name("recorder.c")
    command = [compiler, "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


@pytest.fixture
def recorder(recorder_library: Path) -> Iterator[Recorder]:
    opened = Recorder(recorder_library)
    yield opened
    opened.close()
