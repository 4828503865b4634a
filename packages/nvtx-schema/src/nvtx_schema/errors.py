# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a schema or with the rows packed into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_ROWS_SHOWN = 10


@dataclass(frozen=True)
class Problem:
    """One fault, the field it concerns and what to do about it.

    Attributes
    ----------
    field : str or None
        The field or column at fault; None where the whole schema or table is.
    found : str
        What was found, and what was expected where that is not plain.
    remedy : str
        What to do about it.
    rows : tuple of int
        Every row at fault, counted from 0; empty where the fault is not in single rows.
    """

    field: str | None
    found: str
    remedy: str
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        subject = "" if self.field is None else f"field {self.field!r}: "
        return f"{subject}{self.found}{self._rows_text()}; {self.remedy}"

    def _rows_text(self) -> str:
        if not self.rows:
            return ""
        shown = ", ".join(map(str, self.rows[:_ROWS_SHOWN]))
        more = len(self.rows) - _ROWS_SHOWN
        word = "row" if len(self.rows) == 1 else "rows"
        return f" ({word} {shown}{f' and {more} more' if more > 0 else ''})"


class SchemaError(ValueError):
    """A schema cannot be built; every fault is listed at once.

    Parameters
    ----------
    problems : iterable of Problem
        The faults, in the order of the fields.

    Attributes
    ----------
    problems : tuple of Problem
        The faults.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = "".join(f"\n  - {problem}" for problem in self.problems)
        return f"{len(self.problems)} problems:{lines}"


class PackError(SchemaError):
    """Columns do not fit a schema; every faulty column and its rows are listed at once."""
