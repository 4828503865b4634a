# SPDX-License-Identifier: Apache-2.0
"""Programs that are run with live recording."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TIMEOUT = 300


def record(
    folder: Path, *command: str | Path, output: str = "trace.pftrace", options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a command under `nvtx-perfetto run`, which writes `output` in the folder."""
    tool = [sys.executable, "-m", "nvtx_perfetto", "run", "-o", str(folder / output), *options]
    return subprocess.run(
        [*tool, "--", *map(str, command)],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def record_script(folder: Path, code: str, *arguments: str) -> Path:
    """Record a Python program that must succeed, and give the trace's path."""
    script = folder / "program.py"
    script.write_text(code)
    done = record(folder, sys.executable, script, *arguments)
    assert done.returncode == 0, done.stderr
    return folder / "trace.pftrace"


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without any tool's settings, and with what is given."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NVTX_", "RANK"))}
    return {**kept, **more}


def compile_native(source: Path, output: Path, *flags: str) -> Path:
    """Build a C or C++ program or library with the headers of the nvidia-nvtx package."""
    compiler = shutil.which("c++" if source.suffix == ".cpp" else "cc")
    include = _include()
    if compiler is None or include is None:
        pytest.skip("needs a C and C++ compiler and the nvidia-nvtx package")
    command = [compiler, "-O1", f"-I{include}", str(source), "-o", str(output), *flags]
    subprocess.run([*command, "-lpthread", "-ldl"], check=True)
    return output


def compile_libraries(source: Path, folder: Path) -> list[Path]:
    """Build two libraries of one source, each with an NVTX of its own."""
    flags = ("-std=gnu11", "-shared", "-fPIC")
    return [compile_native(source, folder / f"lib{name}.so", *flags) for name in ("one", "two")]


def _include() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for folder in sorted(Path(root).glob("cu*/include")):
            if (folder / "nvtxw3" / "nvtxw3.h").exists():
                return folder
    return None
