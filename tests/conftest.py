# SPDX-License-Identifier: Apache-2.0
"""Makes `support` importable, and shares one trace processor among the tests of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support import Trace, TraceProcessor


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
