# SPDX-License-Identifier: Apache-2.0
"""What happens to an event that is not as the format says."""

from __future__ import annotations

from typing import Literal

from nvtx_replay.importers.errors import InputRefusedError
from nvtx_replay.report import Report

OnError = Literal["raise", "skip", "repair"]


class Problems:
    """Count faults of the input, or refuse it at the first one.

    Parameters
    ----------
    report : Report
        Where faults are counted.
    on_error : {"repair", "skip", "raise"}
        Whether an event with a fault is repaired where that is possible, left out, or the whole
        input refused.

    Attributes
    ----------
    event_number : int
        The event being looked at, from 0; named in every message.
    """

    def __init__(self, report: Report, on_error: OnError) -> None:
        self.report = report
        self.on_error = on_error
        self.event_number = -1

    def repair(self, kind: str, sentence: str) -> bool:
        """Handle a fault that has a remedy; return whether to apply it."""
        if self.on_error == "repair":
            self.report.repair(kind, 1, self._told(sentence))
            return True
        self.skip(kind, sentence)
        return False

    def accepts_text_time(self, text: str) -> bool:
        """Handle a time that was written as a text; return whether to read it."""
        return self.repair("number_as_text", f"the time {text[:40]!r} is a text; read as a number")

    def skip(self, kind: str, sentence: str, count: int = 1) -> None:
        """Handle a fault without a remedy."""
        if self.on_error == "raise":
            raise InputRefusedError(
                f"{self._told(sentence)} (on_error='raise'; 'repair' or 'skip' would go on)"
            )
        self.report.skip(kind, count, self._told(sentence))

    def _told(self, sentence: str) -> str:
        return f"event {self.event_number}: {sentence}" if self.event_number >= 0 else sentence
