# SPDX-License-Identifier: Apache-2.0
"""The C functions of live recording, typed."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from .library import load_library


class Recovery(IntEnum):
    """What came of draining a live file."""

    DRAINED = 0
    ALIVE = 1
    FOREIGN = 2
    FAILED = 3


@dataclass
class JoinReport:
    """
    What a join did: `cuts` are (bytes, path) of what followed a last whole packet.

    Of writer sessions that were killed, `recovered` are (rows, spill file); of those that go on,
    `living` are spill files; `left` says which others were left alone, and why.
    """

    packets: int = 0
    cuts: list[tuple[int, str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    recovered: list[tuple[int, str]] = field(default_factory=list)
    living: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


@functools.cache
def _functions() -> ctypes.CDLL:
    library = load_library()
    library.nvtx_perfetto_report.restype = ctypes.c_char_p
    library.nvtx_perfetto_recover.argtypes = [ctypes.c_char_p]
    library.nvtx_perfetto_join.argtypes = [
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_int,
    ]
    library.nvtx_perfetto_stats.argtypes = [ctypes.POINTER(ctypes.c_uint64)]
    return library


def _report() -> str:
    return os.fsdecode(_functions().nvtx_perfetto_report() or b"")


def recover(live: str) -> tuple[Recovery, str]:
    """Drain what a dead process left; also tell why it could not be done."""
    code = _functions().nvtx_perfetto_recover(os.fsencode(live))
    return Recovery(code), _report()


def join(inputs: Sequence[str], output: str, overwrite: bool) -> tuple[JoinReport, str]:
    """Join whole traces; the text is what went wrong, or empty."""
    paths = (ctypes.c_char_p * len(inputs))(*[os.fsencode(path) for path in inputs])
    failed = _functions().nvtx_perfetto_join(
        paths, len(inputs), os.fsencode(output), int(overwrite)
    )
    if failed:
        return JoinReport(), _report() or "the machine is out of memory"
    return _parse(_report()), ""


def flush() -> int:
    """1 done, 0 failed, -1 nothing is recorded."""
    return int(_functions().nvtx_perfetto_flush())


def stats() -> tuple[int, ...] | None:
    """Threads, events, samples, dropped, buffer bytes and part bytes; None without a recording."""
    values = (ctypes.c_uint64 * 6)()
    return tuple(values) if _functions().nvtx_perfetto_stats(values) else None


def _parse(text: str) -> JoinReport:
    report = JoinReport()
    for line in text.splitlines():
        kind, number, *rest = line.split("\t", 2)
        if kind == "packets":
            report.packets = int(number)
        elif kind == "cut":
            report.cuts.append((int(number), rest[0]))
        elif kind == "count":
            report.counts[rest[0]] = int(number)
        elif kind == "recovered":
            report.recovered.append((int(number), rest[0]))
        elif kind == "living":
            report.living.append(rest[0])
        elif kind == "left":
            report.left.append(rest[0])
    return report
