# SPDX-License-Identifier: Apache-2.0
"""Live recording of this process, without the command line."""

from __future__ import annotations

import os
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native
from .errors import RecordingError
from .library import library_path

_INJECTION = "NVTX_INJECTION64_PATH"
_OUTPUT = "NVTX_PERFETTO_OUTPUT"


@dataclass(frozen=True)
class Stats:
    """
    What live recording has done so far in this process.

    Attributes
    ----------
    recording : bool
        Whether a recording is open. It opens at the first NVTX event.
    threads : int
        Threads that have a buffer now.
    events, samples : int
        Ranges and marks, and counter samples, that are in the file.
    dropped : int
        Events that found no room, of all threads.
    buffer_bytes, part_bytes : int
        Shared memory in use, and the size of the file so far.
    """

    recording: bool
    threads: int = 0
    events: int = 0
    samples: int = 0
    dropped: int = 0
    buffer_bytes: int = 0
    part_bytes: int = 0


def start(path: str | os.PathLike[str]) -> None:
    """
    Record the NVTX calls of this process and its children into a Perfetto trace.

    Parameters
    ----------
    path : path-like
        The trace, complete once this process has exited. ``%p`` stands for the process id, ``%h``
        for the host and ``%q{VAR}`` for an environment variable. Children leave parts
        beside it, which ``nvtx-perfetto join`` adds.

    Raises
    ------
    RecordingError
        If the nvtx package has found no tool already, or another tool: NVTX decides at its first
        call and never again. Start before the first NVTX call, or use ``nvtx-perfetto run``.

    Notes
    -----
    Sets ``NVTX_INJECTION64_PATH`` and ``NVTX_PERFETTO_OUTPUT`` in this process's environment.
    Other copies of NVTX in the process, such as torch's, decide for themselves at their own first
    call, which cannot be seen from here. To be called from one thread, before any fork that is to
    be recorded.

    Examples
    --------
    >>> import nvtx_perfetto
    >>> nvtx_perfetto.start("train.pftrace")  # doctest: +SKIP
    """
    library = str(library_path())
    other = os.environ.get(_INJECTION)
    if other and os.path.realpath(other) != os.path.realpath(library):
        raise RecordingError(
            f"{_INJECTION} names another tool ({other}); unset it, or record with that tool"
        )
    os.environ[_OUTPUT] = str(Path(path).absolute())
    os.environ[_INJECTION] = library
    nvtx = sys.modules.get("nvtx")
    if nvtx is not None and not _finds_tool(nvtx):
        raise RecordingError(
            "the nvtx package was used before and found no tool, which it never looks for again; "
            "call start() before the first NVTX call, or use `nvtx-perfetto run`"
        )


def flush() -> None:
    """
    Write all that has been recorded into the file.

    Raises
    ------
    RecordingError
        If the file cannot be written. The events stay in memory, and later writes try again.

    Notes
    -----
    Does nothing when nothing is recorded. Safe to call from any thread; events of other threads
    that are under way may or may not be among those written.
    """
    if _native.flush() == 0:
        raise RecordingError(
            "the recording cannot be written; see whether its folder is there and has room"
        )


def stats() -> Stats:
    """
    Tell what live recording has done so far in this process.

    Returns
    -------
    Stats
        Counts since the process began or was forked; all 0 when nothing is recorded.
    """
    values = _native.stats()
    return Stats(False) if values is None else Stats(True, *values)


def _finds_tool(nvtx: Any) -> bool:
    # Domains are remembered by name, so only a fresh one is sure to ask.
    probe = nvtx.get_domain(f"nvtx-perfetto probe {uuid.uuid4().hex}")
    return type(probe).__name__ != "DummyDomain"
