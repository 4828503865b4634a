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


def first_descent(times: NDArray[np.int64]) -> int | None:
    """Return the first row whose time is below its predecessor's, or None."""
    falls = times[1:] < times[:-1]
    return int(falls.argmax()) + 1 if falls.any() else None


class Promise:
    """What a stream promised about order, and the last time it was written at.

    A broken promise is repairable: backends sort what turns out not to be sorted.
    """

    def __init__(self, ordering: StreamOrdering, faults: Faults) -> None:
        self.by_end = ordering is StreamOrdering.PACKED_RANGE_END
        self.active = ordering is not StreamOrdering.UNKNOWN
        self._name = ordering.name.lower()
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
            f"timestamp {time} comes after {self._last}, against the stream's promise "
            f"{self._name!r}"
        )
        return self._faults.event("broken_order", sentence)

    def broken_at(self, times: NDArray[np.int64]) -> int | None:
        """Return the first row of a batch that breaks the promise; remember the last time."""
        if not self.active or not times.size:
            return None
        row = 0 if times[0] < self._last else first_descent(times)
        self._last = max(self._last, int(times.max()))
        return row
