# SPDX-License-Identifier: Apache-2.0
"""What a conversion did, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nvtx_replay.importers import Source


@dataclass(frozen=True)
class Outcome:
    """A finished conversion.

    Parameters
    ----------
    time_offset : int
        Nanoseconds added to every time.
    backend_loss : str or None
        What the backend says it lost, if anything.
    backend_counts : dict
        What the backend counted while it wrote, such as crossings; empty for other backends.
    """

    path: Path
    output: Path
    source: Source
    time_offset: int
    backend_loss: str | None
    backend_counts: dict[str, int]

    @property
    def lossless(self) -> bool:
        """Whether everything of the input is in the output."""
        return self.source.report.lossless and self.backend_loss is None

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as for JSON."""
        report = self.source.report
        return {
            "input": str(self.path),
            "output": str(self.output),
            "contents": self.source.contents,
            "time_offset_ns": self.time_offset,
            **report.as_dict(),
            "examples": {kind: list(told) for kind, told in report.examples.items()},
            "backend_loss": self.backend_loss,
            "backend_counts": self.backend_counts,
            "lossless": self.lossless,
        }


def as_lines(outcome: Outcome) -> Iterator[str]:
    """Yield the report line by line."""
    contents, report = outcome.source.contents, outcome.source.report
    events = ", ".join(f"{count} {kind}" for kind, count in contents.get("events", {}).items())
    yield f"{outcome.path} → {outcome.output}: {events or 'no events'}"
    if outcome.time_offset:
        yield f"every time was moved by {outcome.time_offset} ns, so that the first one is 0"
    yield from (f"note: {note}" for note in contents.get("notes", ()))
    if report:
        yield from str(report).splitlines()
    if counts := outcome.backend_counts:
        yield "the backend counted " + ", ".join(f"{n} {kind}" for kind, n in counts.items())
    if outcome.backend_loss:
        yield f"lost by the backend: {outcome.backend_loss}"
