# SPDX-License-Identifier: Apache-2.0
"""C sources of this folder, compiled on first use with the compiler at hand."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def program(source: str, *options: str) -> Path:
    """Compile a source to a program, or to a library with the option -shared."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    built = folder / Path(source).stem
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O2", *options, HERE / source, "-o", built], check=True)
    return built


def headers() -> Path:
    """The folder of NVTX's headers, as the nvidia-nvtx wheel brings them."""
    import nvidia

    return next(path for base in nvidia.__path__ for path in Path(base).glob("*/include"))
