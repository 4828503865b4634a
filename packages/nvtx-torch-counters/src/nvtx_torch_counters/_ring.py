# SPDX-License-Identifier: Apache-2.0
"""Preallocated storage for the newest samples of one probe."""

from __future__ import annotations

import mmap
import struct
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
        One array a field.
    """

    first: int
    time: npt.NDArray[np.int64]
    error: npt.NDArray[np.int64]
    state: npt.NDArray[np.uint8]
    reason: npt.NDArray[np.int16]
    columns: list[npt.NDArray[Any]]


class Ring:
    """The newest `capacity` rows of fixed columns, written by one thread at a time.

    A row lies in one piece, written by one call, because a tick finds the caches cold::

        time int64 | error int64 | state int32 | reason int32 | columns, one after another

    A lock keeps a copy and a write apart, also without the interpreter lock.

    Parameters
    ----------
    codes : str
        One letter a column, as struct and NumPy both know them: ``q`` for int64.
    capacity : int
        How many rows are kept.
    """

    def __init__(self, codes: str, capacity: int) -> None:
        self.capacity = capacity
        self.written = 0
        self._lock = threading.Lock()
        # One slot more than rows: a write that fails half-way spoils no row.
        self._slots = capacity + 1
        self._names = [f"column {at}" for at in range(len(codes))]
        letters = zip(
            ["time", "error", "state", "reason", *self._names], "qqii" + codes, strict=True
        )
        dtype = np.dtype(list(letters))
        row = struct.Struct(f"=qqii{codes}")
        self._size = row.size
        self._memory = mapped(self._slots * row.size)
        self._table: npt.NDArray[np.void] = np.frombuffer(self._memory, dtype)
        self._pack_row = row.pack_into
        self._pack_state = struct.Struct("=qqii").pack_into

    @property
    def overwritten(self) -> int:
        """How many rows are gone because newer ones took their place."""
        return max(0, self.written - self.capacity)

    def append(self, time_ns: int, error_ns: int, row: Sequence[int | float]) -> None:
        """Add a row with values; a wrong type or too large a number raises and adds nothing."""
        with self._lock:
            at = self.written % self._slots * self._size
            self._pack_row(self._memory, at, time_ns, error_ns, VALUE, 0, *row)
            self.written += 1

    def append_state(self, time_ns: int, error_ns: int, state: int, reason: int) -> None:
        """Add a row that has a state instead of values."""
        with self._lock:
            at = self.written % self._slots * self._size
            self._pack_state(self._memory, at, time_ns, error_ns, state, reason)
            self.written += 1

    def rows(self, since: int = 0) -> RingRows:
        """Copy the rows numbered `since` and later that are still here."""
        with self._lock:
            first = min(max(since, self.overwritten), self.written)
            copy = self._table[np.arange(first, self.written) % self._slots]
        return RingRows(
            first,
            np.ascontiguousarray(copy["time"]),
            np.ascontiguousarray(copy["error"]),
            copy["state"].astype(np.uint8),
            copy["reason"].astype(np.int16),
            [np.ascontiguousarray(copy[name]) for name in self._names],
        )


def mapped(size: int) -> mmap.mmap:
    """Return zeroed bytes whose pages exist from when they are first used, and go when it does.

    Large arrays of NumPy promise neither: malloc serves them from its heap, and clears them,
    once it has seen some of them freed. The mapping is private: a forked child has its own.
    """
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)
