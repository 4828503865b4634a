# SPDX-License-Identifier: Apache-2.0
"""Promises about the order of a stream, by name, and their checking."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from nvtx.writer import StreamOrdering

from nvtx_replay._faults import Faults
from nvtx_replay.errors import ConfigError


def parse_ordering(value: Any) -> StreamOrdering:
    """Return a stream ordering for None, a member or a member's name in any case."""
    if value is None:
        return StreamOrdering.UNKNOWN
    if isinstance(value, StreamOrdering):
        return value
    if isinstance(value, str) and value.upper() in StreamOrdering.__members__:
        return StreamOrdering[value.upper()]
    names = ", ".join(repr(name.lower()) for name in StreamOrdering.__members__)
    raise ConfigError(f"ordering is {value!r}; expected {names} or an nvtx.writer.StreamOrdering")


def is_sorted(times: NDArray[np.int64]) -> bool:
    """Say whether no time is below its predecessor."""
    return not (times[1:] < times[:-1]).any()


class Promise:
    """What a stream promised about order, and the last time it was written at.

    A broken promise is repairable: backends sort what turns out not to be sorted.
    """

    def __init__(self, ordering: StreamOrdering, faults: Faults) -> None:
        self.by_end = ordering is StreamOrdering.PACKED_RANGE_END
        self.active = ordering is not StreamOrdering.UNKNOWN
        self.name = ordering.name.lower()
        self._faults = faults
        self._last = -(2**63)

    def keeps(self, begin: int, end: int | None = None) -> bool:
        """Say whether one event may be written."""
        if not self.active:
            return True
        time = end if self.by_end and end is not None else begin
        if time >= self._last:
            self._last = time
            return True
        sentence = (
            f"timestamp {time} comes after {self._last}, against the stream's promise {self.name!r}"
        )
        return self._faults.event("broken_order", sentence)

    def broken_rows(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of a batch that come too late; remember the last time."""
        if not self.active or not times.size:
            return np.empty(0, dtype=np.int64)
        highest = np.maximum.accumulate(np.concatenate(([self._last], times)))
        self._last = int(highest[-1])
        return np.flatnonzero(times < highest[:-1])
