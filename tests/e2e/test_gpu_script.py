# SPDX-License-Identifier: Apache-2.0
"""The checks for GPU machines must not pass where there is none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "gpu_tests.py"
TIME = re.compile(r"\d+\.\d")  # differs from run to run


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *(arguments or (str(SCRIPT),))],
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


CHECKS = """
import sys, gpu_tests
def good_one(): return "fine"
def bad_one(): raise AssertionError("was 3, not 4")
gpu_tests.missing = lambda: None
gpu_tests.CHECKS = {checks}
gpu_tests.LONGEST_S = {longest}
sys.exit(gpu_tests.main())
"""


def table(
    folder: Path, checks: str, longest: float
) -> tuple[list[list[str]], subprocess.CompletedProcess[str]]:
    code = CHECKS.format(checks=checks, longest=longest)
    done = run(folder, "-c", code, PYTHONPATH=str(SCRIPT.parent))
    rows = [line.split() for line in done.stdout.splitlines()]
    return [[word for word in row if not TIME.fullmatch(word)] for row in rows], done


def test_a_failed_check_fails_the_run_and_hides_no_other(tmp_path: Path) -> None:
    lines, done = table(tmp_path, "(good_one, bad_one, good_one)", 360)
    good = ["good", "one", "passed", "fine"]
    bad = ["bad", "one", "FAILED", "AssertionError:", "was", "3,", "not", "4"]
    assert lines[0] == ["check", "result", "seconds", "detail"]
    assert lines[1:4] == [good, bad, good]
    assert lines[4][:5] == ["2", "of", "3", "checks", "passed"]
    assert done.returncode == 1


def test_only_checks_that_pass_in_time_are_a_success(tmp_path: Path) -> None:
    assert table(tmp_path, "(good_one,)", 360)[1].returncode == 0
    late = table(tmp_path, "(good_one,)", -1)[1]
    assert late.returncode == 1
    assert "took longer than" in late.stderr
