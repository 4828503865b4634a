# SPDX-License-Identifier: Apache-2.0
"""The checks for GPU machines must not pass where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "gpu_tests.py"


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_missing_gpu_fails_with_a_reason_and_runs_no_check(tmp_path: Path) -> None:
    if torch.version.cuda is not None and torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    done = run(tmp_path)
    assert done.returncode == 2
    assert "there is no GPU to test on: " in done.stderr
    assert "passed" not in done.stdout


def test_a_missing_package_fails_with_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    done = run(tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "install torch and nvtx-torch-counters[nvml]" in done.stderr
