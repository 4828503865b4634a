# SPDX-License-Identifier: Apache-2.0
"""Puts parts, finished traces and what killed writer sessions left into one trace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import _native
from .errors import JoinError
from .parts import Part, part_of, parts_in, pid_of_spill, recover, trace_of_spill

_TRACE_SUFFIXES = (".pftrace", ".perfetto-trace")


@dataclass(frozen=True)
class JoinResult:
    """
    What a join has put together.

    Attributes
    ----------
    traces : tuple of str
        The traces that are in the output.
    packets : int
        Packets in the output.
    counts : dict of str to int
        All summaries added up, by kind.
    cuts : tuple of (int, str)
        Bytes behind the last whole packet of a trace, which were left out, and the trace.
    living : tuple of int
        Ids of processes that still record; theirs is not in the output, or not all of it.
    problems : tuple of str
        Parts and spill files that could not be used, and why; they are not in the output.
    recovered : tuple of (int, str)
        Rows that a writer session had spilled when it was killed, and the spill file they were
        in, which is gone now.
    """

    traces: tuple[str, ...]
    packets: int
    counts: dict[str, int] = field(hash=False)
    cuts: tuple[tuple[int, str], ...] = ()
    living: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()
    recovered: tuple[tuple[int, str], ...] = ()


def join(
    inputs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    overwrite: bool = False,
) -> JoinResult:
    """
    Join parts, folders of them, and finished traces into one trace.

    Parameters
    ----------
    inputs : sequence of path-like
        Parts (``*.part``, with what their process left beside them), folders, and traces of live
        recordings, writer sessions and earlier joins. All stay where they are, but the spill
        files (``*.spill``) that killed writer sessions left beside their traces: what they hold
        goes into the output, and they go once it is written.
    output : path-like
        The trace to write; it appears whole or not at all.
    overwrite : bool
        Replace an existing output.

    Returns
    -------
    JoinResult
        What went into the output, and what did not.

    Raises
    ------
    JoinError
        If there is nothing to join, an input is no trace, two inputs are on different clocks, or
        the output cannot be written.
    """
    target = Path(output).absolute()
    parts, traces = _collect(inputs, target)
    recovered = recover(parts)
    paths = [str(part.path) for part in recovered.whole] + traces
    if not paths:
        raise JoinError(_nothing(recovered.living, recovered.problems))
    report, problem = _native.join(paths, str(target), overwrite)
    if problem:
        raise JoinError(problem)
    return JoinResult(
        traces=tuple(paths),
        packets=report.packets,
        counts=report.counts,
        cuts=tuple(report.cuts),
        living=(
            *(part.pid for part in recovered.living),
            *(pid_of_spill(spill) for spill in report.living),
        ),
        problems=(*recovered.problems, *report.left),
        recovered=tuple(report.recovered),
    )


def _collect(
    inputs: Sequence[str | os.PathLike[str]], output: Path
) -> tuple[list[Part], list[str]]:
    parts: dict[Part, None] = {}
    traces: dict[str, None] = {}
    for given in inputs:
        path = Path(given).absolute()
        part = part_of(path)
        if part is not None:
            parts[part] = None
        elif path.is_dir():
            parts.update(dict.fromkeys(parts_in(path)))
            traces.update({str(p): None for p in _traces_in(path) if p != output})
        else:
            traces[str(path)] = None
    # A spill file is looked for beside its trace anyway.
    beside = {path for path in traces if str(trace_of_spill(Path(path))) in traces}
    return list(parts), [path for path in traces if path not in beside]


def _traces_in(folder: Path) -> list[Path]:
    files = sorted(folder.iterdir())
    spilled = {trace: path for path in files if (trace := trace_of_spill(path))}
    # Other empty traces are outputs that a process claimed and never finished.
    traces = [
        path
        for path in files
        if path.name.endswith(_TRACE_SUFFIXES) and (path.stat().st_size or path in spilled)
    ]
    # A spill file whose trace is not there, or is called otherwise, is read all the same.
    alone = [path for trace, path in spilled.items() if trace not in traces]
    return traces + alone


def _nothing(living: Sequence[Part], problems: Sequence[str]) -> str:
    if living:
        pids = ", ".join(str(part.pid) for part in living)
        return f"nothing to join yet: the processes {pids} still record; end them first"
    if problems:
        return "nothing can be joined: " + "; ".join(problems)
    return "nothing to join: no part and no trace was found; name parts, folders or traces"
