# SPDX-License-Identifier: Apache-2.0
"""Sessions of the installed backend, written through `nvtx.writer`, and scripts that run apart."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import nvtx
import nvtx.writer
import nvtx_perfetto

REALTIME = nvtx.TimestampType.CPU_CLOCK_GETTIME_REALTIME
MONOTONIC = nvtx.TimestampType.CPU_CLOCK_GETTIME_MONOTONIC


@contextmanager
def session(path: Path, config: str = "") -> Iterator[nvtx.writer.Session]:
    """Begin a session that writes to a path, and end it."""
    with (
        closing(nvtx.writer.load_backend(nvtx_perfetto.library_path())) as backend,
        nvtx.writer.Session("job", backend=backend, config=f"output={path}\n{config}") as begun,
    ):
        yield begun


@contextmanager
def stream(path: Path, config: str = "", **options: object) -> Iterator[nvtx.writer.Stream]:
    """Open the one stream of a session, in domain `dom` on the real-time clock."""
    options = {"domain": "dom", "time_domain_id": REALTIME, **options}
    with session(path, config) as begun, begun.create_stream("main", **options) as opened:
        yield opened


def run(script: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own; `sessions` can be imported there."""
    start = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", start + script, *map(str, arguments)],
        check=False,
        cwd=cwd,
        capture_output=True,
        text=True,
    )
