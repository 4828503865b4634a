# SPDX-License-Identifier: Apache-2.0
"""The rows of a table or batch that survive its checks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nvtx_replay._column import Mask
from nvtx_replay._faults import Faults

_NAMED = 10  # how many rows an error carries


class RowFaults:
    """Which rows of one table are kept, as its checks run one after the other.

    Parameters
    ----------
    faults : Faults
        The stream's way of handling faults.
    count : int
        How many rows there are.
    first : int, optional
        The number of the first row, where the table is a part of something longer.
    """

    def __init__(self, faults: Faults, count: int, first: int = 0) -> None:
        self.faults = faults
        self.keep: Mask = np.ones(count, dtype=bool)
        self._first = first

    @property
    def on_error(self) -> str:
        """The stream's way of handling faults."""
        return self.faults.on_error

    def check(
        self,
        kind: str,
        wrong: Mask,
        tell: Callable[[int], str],
        *,
        repairable: bool = True,
    ) -> Mask:
        """Treat rows with a fault; return those that the caller is to repair.

        Parameters
        ----------
        kind : str
            The kind of fault.
        wrong : numpy.ndarray of bool
            The rows that have it.
        tell : callable
            Says what is wrong with a row, given its number within this table.
        repairable : bool, optional
            Whether a repair is possible; rows without one are skipped.
        """
        wrong = wrong & self.keep
        count = int(wrong.sum())
        if not count:
            return wrong
        numbers = np.flatnonzero(wrong)[:_NAMED].tolist()
        sentence = f"row {numbers[0] + self._first} {tell(numbers[0])}"
        if count > 1:
            sentence += f" (and {count - 1} more such row{'s' if count > 2 else ''})"
        rows = tuple(number + self._first for number in numbers)
        if self.faults.rows(kind, sentence, rows, count=count, repairable=repairable):
            return wrong
        self.keep &= ~wrong
        return np.zeros_like(wrong)
