# SPDX-License-Identifier: Apache-2.0
"""Running a small program in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

#: From 3.12 on, Python warns of every fork beside a thread; that it works is what is tested.
_FORKS = "ignore:This process:DeprecationWarning"


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in `folder`; it is given up after a minute, which a hang would need."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-W", _FORKS, "-c", textwrap.dedent(script)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def printed(script: str, folder: Path, **environment: str) -> str:
    """Return what a script printed; its failure is the test's."""
    done = run(script, folder, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
