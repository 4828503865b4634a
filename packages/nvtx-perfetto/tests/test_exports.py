# SPDX-License-Identifier: Apache-2.0
"""What the shared library exports and needs."""

from __future__ import annotations

import re
import shutil
import subprocess

import nvtx_perfetto
import pytest

ENTRY_POINTS = {
    "nvtxwGetInterface",
    "nvtxwFinalize",
    "InitializeInjectionNvtx2",
    "InitializeInjectionNvtxExtension",
}


def tool(name: str, *flags: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    command = [found, *flags, str(nvtx_perfetto.library_path())]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_only_the_entry_points_and_functions_of_its_own_are_exported() -> None:
    listed = tool("nm", "-D", "--defined-only", "--format=posix").splitlines()
    names = {line.split()[0].split("@")[0] for line in listed}
    assert names >= ENTRY_POINTS
    own = names - ENTRY_POINTS
    assert {name for name in own if not name.startswith("nvtx_perfetto_")} == set()


def test_neither_python_nor_a_c_plus_plus_runtime_is_needed() -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-d", "-W"))
    assert needed
    assert not [name for name in needed if "python" in name or "stdc++" in name or "gcc" in name]
