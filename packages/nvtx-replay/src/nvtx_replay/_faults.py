# SPDX-License-Identifier: Apache-2.0
"""What happens to a fault: an error, a skipped row or a repaired one."""

from __future__ import annotations

from typing import Literal, get_args

from nvtx_replay.errors import ConfigError, RowError
from nvtx_replay.report import Report

OnError = Literal["raise", "skip", "repair"]


def parse_on_error(value: str) -> OnError:
    """Return ``value`` if it names a way to handle faults."""
    for known in get_args(OnError):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise ConfigError(f"on_error is {value!r}; expected 'raise', 'skip' or 'repair'")


class Faults:
    """One stream's way of handling faults.

    Every method raises :class:`RowError` when the way is ``"raise"``. Otherwise it counts the fault
    and says whether the row is to be repaired (True) or skipped (False).
    """

    def __init__(self, on_error: OnError, report: Report, stream: str) -> None:
        self.on_error = on_error
        self.report = report
        self.stream = stream

    def event(self, kind: str, sentence: str, *, repairable: bool = True) -> bool:
        """Handle a fault of one event."""
        return self.rows(kind, sentence, (), count=1, repairable=repairable)

    def rows(
        self,
        kind: str,
        sentence: str,
        rows: tuple[int, ...],
        *,
        count: int,
        repairable: bool = True,
    ) -> bool:
        """Handle a fault that ``count`` rows share; ``rows`` are the first of them."""
        told = f"stream {self.stream!r}: {sentence}"
        if self.on_error == "raise":
            raise RowError(kind, told + _REMEDY, rows)
        if self.on_error == "repair" and repairable:
            self.report.repair(kind, count, told)
            return True
        self.report.skip(kind, count, told)
        return False


_REMEDY = "; correct the data, or pass on_error='skip' or 'repair' to have such rows counted"
