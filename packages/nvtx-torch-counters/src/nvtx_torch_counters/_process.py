# SPDX-License-Identifier: Apache-2.0
"""Probes of this process: memory at every tick, CPU and counts once a second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import psutil  # type: ignore[import-untyped,unused-ignore]
from nvtx_schema import counter_schema, value

from ._statm import Statm
from .errors import Unavailable
from .probe import Reading

_SLOW = 1.0

_FEWEST_NS = 1_000_000


def _bytes_field() -> object:
    return value(np.int64, unit="bytes", min=0)


class ProcessMemory:
    """Resident (on Linux also shared) memory of the process, in bytes.

    One ``pread`` of an open ``/proc/self/statm`` a tick on Linux, ``psutil`` elsewhere. It keeps
    the interpreter lock: giving it up would let a busy Python thread stretch the read, and the
    error of its timestamp, to a whole switch interval. The kernel counts pages per thread and
    sums up now and then, so the value may lag by some dozen pages a thread.
    """

    name = "process memory"
    interval: float | None = None

    def __init__(self) -> None:
        names = ("rss", "shared") if sys.platform == "linux" else ("rss",)
        self.schema = counter_schema({name: _bytes_field() for name in names})
        self._statm: Statm | None = None
        self._process: psutil.Process | None = None

    def open(self) -> None:
        """Open this process's file, which a forked child must do anew."""
        self.close()
        if sys.platform == "linux":
            self._statm = Statm()
        else:
            self._process = psutil.Process()

    def read(self) -> Reading:
        """Return (rss, shared), or (rss,) where there is no statm."""
        if self._statm is not None:
            return self._statm.read()
        if self._process is None:
            raise Unavailable("the probe is not open")
        return (self._process.memory_info().rss,)

    def read_peaks(self) -> Mapping[str, int]:
        """Return the greatest RSS so far: ``VmHWM`` of proc_pid_status(5)."""
        if sys.platform != "linux":
            return {}
        lines = Path("/proc/self/status").read_bytes().splitlines()
        line = next((line for line in lines if line.startswith(b"VmHWM:")), None)
        return {} if line is None else {"rss": int(line.split()[1]) * 1024}

    def close(self) -> None:
        """Close the file."""
        if self._statm is not None:
            self._statm.close()
        self._statm = self._process = None


class ProcessCpu:
    """How much CPU the process used since the last read.

    ``percent`` is the share of the CPUs that the process may run on, 0 to 100; ``cores`` is
    CPU seconds a second. Both come from the process's CPU-time clock, without a look at
    ``/proc``.
    """

    name = "process cpu"
    interval: float | None = _SLOW

    def __init__(self) -> None:
        self.schema = counter_schema(
            {
                "percent": value(np.float64, unit="percent", min=0.0, max=100.0),
                "cores": value(np.float64, unit="cores", min=0.0, max=float(usable_cpus())),
            }
        )
        self._wall = self._used = 0

    def open(self) -> None:
        """Begin to count now."""
        self._wall, self._used = time.monotonic_ns(), time.process_time_ns()

    def read(self) -> Reading:
        """Return (percent, cores) since the last read."""
        wall, used = time.monotonic_ns(), time.process_time_ns()
        elapsed = wall - self._wall
        if elapsed < _FEWEST_NS:
            raise Unavailable("a share of CPU time needs a millisecond between two reads")
        cores = (used - self._used) / elapsed
        self._wall, self._used = wall, used
        return min(100.0, 100.0 * cores / usable_cpus()), cores

    def close(self) -> None:
        """Do nothing: no handle is held."""


class ProcessObjects:
    """How many threads and open files (handles on Windows) the process has."""

    name = "process objects"
    interval: float | None = _SLOW

    def __init__(self) -> None:
        count = value(np.int64, min=0)
        self.schema = counter_schema({"threads": count, "files": count})
        self._process: psutil.Process | None = None

    def open(self) -> None:
        """Look the process up; a forked child is another one."""
        self._process = psutil.Process()

    def read(self) -> Reading:
        """Return (threads, files)."""
        process = self._process
        if process is None:
            raise Unavailable("the probe is not open")
        files = process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
        return process.num_threads(), files

    def close(self) -> None:
        """Drop the handle."""
        self._process = None


def usable_cpus() -> int:
    """Return how many CPUs this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
