# SPDX-License-Identifier: Apache-2.0
"""Where benchmarks write: our backend to a file in memory, and one that does nothing."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nvtx_perfetto
from compiled import headers, program
from nvtx.writer import Backend, Session, load_backend

# A file in memory, so that the disk's speed is not what is measured.
_MEMORY = Path("/dev/shm")
FOLDER = Path(tempfile.mkdtemp(prefix="bench-", dir=_MEMORY if _MEMORY.is_dir() else None))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
Write = Callable[[Session], None]


def to_perfetto(write: Write) -> int:
    """Write a session through our backend; give the size of its file."""
    output = FOLDER / "bench.pftrace"
    config = f"output={output}\noverwrite=1"
    with Session("bench", backend=ours(), config=config) as session:
        write(session)
    return output.stat().st_size


def to_nothing(write: Write) -> int:
    """Write a session through a backend that keeps nothing."""
    with Session("bench", backend=nothing()) as session:
        write(session)
    return 0


@cache
def ours() -> Backend:
    """The library under test."""
    return load_backend(nvtx_perfetto.library_path())


@cache
def nothing() -> Backend:
    """The floor that writing costs through nvtx.writer alone."""
    return load_backend(str(program("do_nothing.c", "-shared", "-fPIC", f"-I{headers()}")))
