# SPDX-License-Identifier: Apache-2.0
"""Every interface member against hostile arguments, from C."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import nvidia
import nvtx_perfetto
import pytest
from abi_cells import program
from abi_values import MEMBERS


def include_folder() -> Path:
    found = [
        folder
        for root in nvidia.__path__
        for folder in Path(root).glob("*/include")
        if (folder / "nvtxw3" / "nvtxw3.h").exists()
    ]
    return found[-1]


def test_every_cell_of_the_interface_answers_with_the_code_it_should(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source = tmp_path / "cells.c"
    source.write_text(program())
    built = tmp_path / "cells"
    flags = ["-std=gnu11", "-Wall", "-Werror", f"-I{include_folder()}"]
    subprocess.run([compiler, *flags, str(source), "-o", str(built), "-ldl"], check=True)
    done = subprocess.run(
        [built, nvtx_perfetto.library_path()],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    print(done.stdout)
    last = re.fullmatch(r"(\d+) cells, (\d+) wrong", done.stdout.splitlines()[-1])
    assert last is not None
    assert done.returncode == 0, done.stdout
    assert int(last[1]) > 400
    assert int(last[2]) == 0


def test_the_cells_cover_all_members_of_the_interface() -> None:
    header = (include_folder() / "nvtxw3" / "nvtxw3.h").read_text()
    table = header[header.index("typedef struct nvtxwInterface_v2") :]
    declared = re.findall(r"nvtxwResultCode_t \(\*(\w+)\)\(", table)
    assert sorted(MEMBERS) == sorted(declared)
    assert len(declared) == 21
