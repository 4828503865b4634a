# SPDX-License-Identifier: Apache-2.0
"""The ranges of an input as bare numbers, kept on disk between the passes."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

NEVER = 2**63 - 1
"""The end of a range that never ended."""

RANGE = np.dtype([("begin", np.int64), ("end", np.int64), ("row", np.int32), ("lane", np.int32)])
ANNOTATIONS, PYTHON_STACK = 0, 1

_CHUNK = 65_536
_IN_MEMORY_BYTES = 32 << 20

RangeArray = npt.NDArray[np.void]


class RangeSpool:
    """Append ranges in file order; read them back in chunks. 24 bytes each, on disk beyond 32 MB.

    A range's ordinal is its place in this order.
    """

    def __init__(self) -> None:
        # Closed, and thereby deleted, by `close` and at the latest with this object.
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115
        self._begins, self._ends = array("q"), array("q")
        self._rows, self._lanes = array("i"), array("i")
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, row: int, lane: int, begin: int, end: int | None) -> None:
        """Add a range of one row; ``lane`` tells its Python stack from its annotations."""
        self._begins.append(begin)
        self._ends.append(NEVER if end is None else end)
        self._rows.append(row)
        self._lanes.append(lane)
        self._count += 1
        if len(self._begins) >= _CHUNK:
            self._spill()

    def chunks(self) -> Iterator[RangeArray]:
        """Yield all ranges as structured arrays of at most 65,536."""
        self._spill()
        self._file.seek(0)
        while data := self._file.read(_CHUNK * RANGE.itemsize):
            yield np.frombuffer(data, RANGE)
        self._file.seek(0, 2)

    def close(self) -> None:
        """Delete the spilled data."""
        self._file.close()

    def _spill(self) -> None:
        chunk = np.empty(len(self._begins), RANGE)
        chunk["begin"], chunk["end"] = self._begins, self._ends
        chunk["row"], chunk["lane"] = self._rows, self._lanes
        self._file.write(chunk.tobytes())
        for column in (self._begins, self._ends, self._rows, self._lanes):
            del column[:]
