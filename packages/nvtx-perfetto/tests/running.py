# SPDX-License-Identifier: Apache-2.0
"""The command line and recorded programs, as child processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nvtx_perfetto


def environment(**more: str) -> dict[str, str]:
    """This process's, without any tool's settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NVTX_", "RANK"))}
    return {**kept, **more}


def tool(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    return subprocess.run(
        [sys.executable, "-m", "nvtx_perfetto", *map(str, arguments)],
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )


def python(code: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )


def leave_part(output: Path, code: str) -> Path:
    """Record a program into a part of an output, and give the part."""
    before = set(output.parent.glob("*.part"))
    done = python(
        code,
        NVTX_INJECTION64_PATH=str(nvtx_perfetto.library_path()),
        NVTX_PERFETTO_OUTPUT=str(output),
        NVTX_PERFETTO_CONFIG="parts=only",
    )
    assert done.stderr == ""
    (part,) = set(output.parent.glob("*.part")) - before
    return part
