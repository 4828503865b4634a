# SPDX-License-Identifier: Apache-2.0
"""A recording injection for the whole run, set before the first NVTX call of the process."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from recording import Recorder, build_injection, inject, sequence

_folder = tempfile.TemporaryDirectory()
_library = build_injection(Path(_folder.name))
# NVTX looks at this once, at its first call, so no fixture could set it in time.
inject(_library)


@pytest.fixture(scope="session")
def recorder() -> Iterator[Recorder]:
    """What the process told NVTX."""
    recorder = Recorder(_library)
    yield recorder
    recorder.clear()


@pytest.fixture(autouse=True)
def _clean(recorder: Recorder) -> Iterator[None]:
    """Fail a test that leaves a range open, or the switch off."""
    from nvtx_hooks._stack import NOTHING, current_thread
    from nvtx_hooks._switch import switch

    recorder.clear()
    yield
    assert switch.on
    assert current_thread().top is NOTHING
    assert current_thread().passes == set()
    kinds = [event.kind for event in recorder.events()]
    assert kinds.count("push") == kinds.count("pop")


@pytest.fixture
def ranges(recorder: Recorder) -> Callable[[], list[str]]:
    """Give a function that writes the events since its last call as one line each."""

    def read() -> list[str]:
        lines = sequence(recorder.events())
        recorder.clear()
        return lines

    return read
