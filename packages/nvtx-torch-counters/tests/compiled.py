# SPDX-License-Identifier: Apache-2.0
"""Building the small C libraries that stand in for tools and drivers."""

from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest


def library(source: str, target: Path, *options: str) -> Path:
    """Compile a C file of this folder into the shared library `target`."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip(f"there is no C compiler (cc) to build {source} with")
    header = "nvidia/cu13/include/nvtx3/nvToolsExt.h"
    include = Path(str(distribution("nvidia-nvtx").locate_file(header))).parents[1]
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", f"-I{include}", *options]
    path = Path(__file__).with_name(source)
    subprocess.run([*command, str(path), "-o", str(target)], check=True)
    return target
