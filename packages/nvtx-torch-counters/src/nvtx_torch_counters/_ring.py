# SPDX-License-Identifier: Apache-2.0
"""Preallocated storage for the newest samples of one probe."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from nvtx import CounterNoValueReason

#: Row states. A reason's state is its NVTX number plus one, so that 0 is "has a value".
VALUE = 0
ZERO = CounterNoValueReason.ZERO.value + 1
UNCHANGED = CounterNoValueReason.UNCHANGED.value + 1
UNAVAILABLE = CounterNoValueReason.UNAVAILABLE.value + 1


@dataclass(frozen=True)
class RingRows:
    """Rows copied out of a ring, oldest first.

    Attributes
    ----------
    first
        Number of the oldest row here, counted from the ring's first row ever.
    time, error
        int64 ns: the middle of the read on the monotonic clock, and half its length.
    state, reason
        uint8 and int16: what kind of row it is, and which text explains it.
    columns
        One int64 or float64 array a field.
    """

    first: int
    time: npt.NDArray[np.int64]
    error: npt.NDArray[np.int64]
    state: npt.NDArray[np.uint8]
    reason: npt.NDArray[np.int16]
    columns: list[npt.NDArray[np.int64] | npt.NDArray[np.float64]]


def mapped(dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
    """Return zeros whose pages exist from when they are first used, and go when it does.

    ``numpy.zeros`` promises neither: malloc serves large blocks from its heap, and clears them,
    once it has seen some of them freed. The mapping is private: a forked child has its own.
    """
    size = count * np.dtype(dtype).itemsize
    if hasattr(mmap, "MAP_PRIVATE"):
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    else:
        memory = mmap.mmap(-1, size)
    return np.frombuffer(memory, dtype)


class Ring:
    """The newest `capacity` rows of fixed columns, written by one thread at a time.

    Memory is mapped when it is first used, so that a large ring of a slow probe costs
    little. Stores go through memory views, which cost half of NumPy's scalar stores. A lock
    keeps a copy and a write apart, also without the interpreter lock.
    """

    def __init__(self, dtypes: Sequence[npt.DTypeLike], capacity: int) -> None:
        self.capacity = capacity
        self.written = 0
        self._lock = threading.Lock()
        # One slot more than rows: a store that fails half-way spoils no row.
        self._slots = capacity + 1
        self._time: npt.NDArray[np.int64] = mapped(np.int64, self._slots)
        self._error: npt.NDArray[np.int64] = mapped(np.int64, self._slots)
        self._state: npt.NDArray[np.uint8] = mapped(np.uint8, self._slots)
        self._reason: npt.NDArray[np.int16] = mapped(np.int16, self._slots)
        self._columns = [mapped(dtype, self._slots) for dtype in dtypes]
        self._views: list[Any] = [column.data for column in self._columns]
        self._stamps = (self._time.data, self._error.data)
        self._states = self._state.data

    @property
    def overwritten(self) -> int:
        """How many rows are gone because newer ones took their place."""
        return max(0, self.written - self.capacity)

    def append(self, time_ns: int, error_ns: int, row: Sequence[int | float]) -> None:
        """Add a row with values; a wrong type or too large a number raises and adds nothing."""
        with self._lock:
            at = self.written % self._slots
            for view, value in zip(self._views, row, strict=True):
                view[at] = value
            times, errors = self._stamps
            times[at] = time_ns
            errors[at] = error_ns
            self._states[at] = VALUE
            self.written += 1

    def append_state(self, time_ns: int, error_ns: int, state: int, reason: int) -> None:
        """Add a row that has a state instead of values."""
        with self._lock:
            at = self.written % self._slots
            self._time[at] = time_ns
            self._error[at] = error_ns
            self._state[at] = state
            self._reason[at] = reason
            self.written += 1

    def rows(self, since: int = 0) -> RingRows:
        """Copy the rows numbered `since` and later that are still here."""
        with self._lock:
            first = min(max(since, self.overwritten), self.written)
            at = np.arange(first, self.written) % self._slots
            return RingRows(
                first,
                self._time[at],
                self._error[at],
                self._state[at],
                self._reason[at],
                [column[at] for column in self._columns],
            )
