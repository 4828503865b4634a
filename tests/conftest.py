# SPDX-License-Identifier: Apache-2.0
"""What end-to-end tests share: a trace processor, a backend, sessions on a path of the test."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support import Trace, TraceProcessor

if TYPE_CHECKING:
    from nvtx.writer import Backend, Session


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves a thread or a changed environment to those after it."""
    variables, threads = dict(os.environ), set(threading.enumerate())
    yield
    changed = {name for name, _ in dict(os.environ).items() ^ variables.items()}
    assert changed - {"PYTEST_CURRENT_TEST"} == set()
    assert set(threading.enumerate()) - threads == set()


@pytest.fixture(scope="session")
def processor() -> Iterator[TraceProcessor]:
    """The real trace processor, started once."""
    with TraceProcessor() as started:
        yield started


@pytest.fixture
def load(processor: TraceProcessor) -> Callable[[Path], Trace]:
    """Give a function that reads a trace's rows with the real trace processor."""

    def read(path: Path) -> Trace:
        return Trace(processor, path)

    return read


@pytest.fixture(scope="session")
def backend() -> Backend:
    """Our library, as any user of nvtx.writer loads it."""
    import nvtx_perfetto
    from nvtx.writer import load_backend

    return load_backend(nvtx_perfetto.library_path())


@pytest.fixture
def open_session(backend: Backend) -> Callable[..., Session]:
    """Give a function that makes a session for an output path and further config keys."""
    from nvtx.writer import Session

    def make(output: Path, name: str = "session", **config: object) -> Session:
        keys = {"output": output, **config}
        text = "\n".join(f"{key}={value}" for key, value in keys.items())
        return Session(name, backend=backend, config=text)

    return make
