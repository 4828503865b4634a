# SPDX-License-Identifier: Apache-2.0
"""The files that recording processes leave: parts, and live files of those that died."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from . import _native
from .errors import JoinError

_PART = ".part"
_LIVE = ".live"
_STEM = re.compile(r"\.(\d+)\.[0-9a-f]{8}$")
_SPILL = re.compile(r"\.(\d+)\.[0-9a-f]{8}\.spill$")


@dataclass(frozen=True)
class Part:
    """What one process image recorded; `stem` is its path without the suffix."""

    stem: str

    @property
    def path(self) -> Path:
        """The trace."""
        return Path(self.stem + _PART)

    @property
    def live(self) -> Path:
        """The shared memory, there until it has been drained."""
        return Path(self.stem + _LIVE)

    @property
    def pid(self) -> int:
        """The process's id."""
        match = _STEM.search(self.stem)
        return int(match.group(1)) if match else 0


@dataclass
class Recovered:
    """Parts that are whole now, those whose process lives, and problems with others."""

    whole: list[Part] = field(default_factory=list)
    living: list[Part] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def part_of(path: str | os.PathLike[str]) -> Part | None:
    """The part that a path belongs to, or None for other files."""
    given = Path(path)
    stem = str(given.with_suffix(""))
    return Part(stem) if given.suffix in (_PART, _LIVE) and _STEM.search(stem) else None


def trace_of_spill(path: Path) -> Path | None:
    """The trace that a writer session's spill file lies beside, or None for other files."""
    trace, found = _SPILL.subn("", path.name)
    return path.with_name(trace) if found else None


def pid_of_spill(path: str) -> int:
    """The id of the process whose writer session a spill file is of."""
    match = _SPILL.search(path)
    return int(match.group(1)) if match else 0


def parts_in(folder: Path) -> list[Part]:
    """All parts in a folder, by name."""
    return _distinct(part_of(path) for path in sorted(folder.iterdir()))


def parts_of_output(output: Path) -> list[Part]:
    """All parts of one output."""
    prefix = output.name + "."
    if not output.parent.is_dir():
        return []
    found = (part_of(p) for p in sorted(output.parent.iterdir()) if p.name.startswith(prefix))
    return [part for part in _distinct(found) if _STEM.sub("", part.stem) == str(output)]


def recover(parts: Iterable[Part]) -> Recovered:
    """
    Drain what dead processes left, so that their parts are whole.

    Raises
    ------
    JoinError
        If a named part is not there at all.
    """
    result = Recovered()
    for part in parts:
        if not part.live.exists():
            if not part.path.exists():
                raise JoinError(f"{part.path} is not there; name a part, a folder or a trace")
            result.whole.append(part)
            continue
        state, problem = _native.recover(str(part.live))
        if state is _native.Recovery.DRAINED:
            result.whole.append(part)
        elif state is _native.Recovery.ALIVE:
            result.living.append(part)
        elif not part.live.exists() and part.path.exists():
            result.whole.append(part)  # another process was faster
        else:
            result.problems.append(problem)
    return result


def _distinct(parts: Iterable[Part | None]) -> list[Part]:
    return list(dict.fromkeys(part for part in parts if part is not None))
