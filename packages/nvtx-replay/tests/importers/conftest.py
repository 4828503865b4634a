# SPDX-License-Identifier: Apache-2.0
"""Imports written to a backend that records what it is handed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nvtx.writer
import pytest
from nvtx_replay import importers
from recorded import Recording, parse


@pytest.fixture(scope="session")
def recording_backend(recorder: Path) -> Iterator[Any]:
    """Load the recording backend."""
    backend = nvtx.writer.load_backend(recorder)
    yield backend
    backend.close()


@pytest.fixture
def write_input(tmp_path: Path) -> Callable[..., Path]:
    """Write an input file: events with header values, or text or bytes as they are."""

    def write(content: Any, name: str = "in.json", **header: Any) -> Path:
        path = tmp_path / name
        if isinstance(content, list):
            content = json.dumps({**header, "traceEvents": content})
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def record(
    tmp_path: Path, recording_backend: Any, write_input: Callable[..., Path]
) -> Callable[..., tuple[Recording, importers.Source]]:
    """Import an input and return what the backend was handed, with the source."""

    def run(
        content: Any, options: importers.ImportOptions | None = None, **header: Any
    ) -> tuple[Recording, importers.Source]:
        path = content if isinstance(content, Path) else write_input(content, **header)
        source = importers.scan(path, options)
        log = tmp_path / "recorded.txt"
        session = nvtx.writer.Session("test", backend=recording_backend, config=f"output={log}")
        with session:
            source.write(session)
        return parse(log.read_text()), source

    return run
