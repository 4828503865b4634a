# SPDX-License-Identifier: Apache-2.0
"""Tells whether NVTX calls reach a tool here, and whether ours records them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from . import __version__
from .errors import PerfettoError
from .join import join
from .library import library_path, library_version

_INJECTION = "NVTX_INJECTION64_PATH"
_ATTACHED = "import nvtx; print(type(nvtx.get_domain('nvtx-perfetto check')).__name__)"
_RANGE = """
import nvtx
domain = nvtx.get_domain("nvtx-perfetto check")
domain.push_range(message="test range")
domain.pop_range()
"""
_SECONDS = 60


@dataclass(frozen=True)
class Finding:
    """One line of the check."""

    good: bool
    text: str


def check() -> Iterator[Finding]:
    """
    Look at versions, at the tool that NVTX finds here, and at a test range.

    Yields
    ------
    Finding
        What was found, and whether it is as it should be. Nothing attached is no fault.
    """
    yield Finding(True, f"nvtx-perfetto {__version__}, Python {sys.version.split()[0]}")
    try:
        yield Finding(True, f"library {library_version()} at {library_path()}")
    except PerfettoError as error:
        yield Finding(False, str(error))
        return
    try:
        yield Finding(True, f"nvtx package {metadata.version('nvtx')}")
    except metadata.PackageNotFoundError:
        yield Finding(False, "the nvtx package is not installed, so no test range can be made")
        return
    yield _attached()
    yield _test_range()


def _attached() -> Finding:
    path = os.environ.get(_INJECTION)
    kind = _python(_ATTACHED, dict(os.environ)).stdout.strip()
    found = kind == "Domain"
    if not path:
        state = "a tool is attached by other means" if found else "no tool is attached"
        return Finding(True, f"{_INJECTION} is not set; {state}")
    if not Path(path).exists():
        return Finding(False, f"{_INJECTION} names {path}, which is not there; NVTX stays off")
    if not found:
        return Finding(False, f"{_INJECTION} names {path}, which NVTX cannot use; NVTX stays off")
    own = os.path.realpath(path) == os.path.realpath(library_path())
    return Finding(True, f"attached: {'this library' if own else path}")


def _test_range() -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        environment[_INJECTION] = str(library_path())
        environment["NVTX_PERFETTO_OUTPUT"] = str(Path(folder) / "check.pftrace")
        environment["NVTX_PERFETTO_CONFIG"] = "parts=only"
        done = _python(_RANGE, environment)
        if done.returncode != 0:
            return Finding(False, f"the test range failed: {done.stderr.strip()}")
        try:
            joined = join([folder], Path(folder) / "joined.pftrace")
        except PerfettoError as error:
            return Finding(False, f"the test range was not recorded: {error}")
        events = joined.counts.get("events", 0)
        return Finding(events == 1, f"test range: {events} of 1 recorded")


def _python(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
