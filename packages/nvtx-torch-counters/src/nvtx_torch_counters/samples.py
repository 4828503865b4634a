# SPDX-License-Identifier: Apache-2.0
"""The samples of one counter group as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from nvtx import CounterNoValueReason
from nvtx_schema import Schema

from ._clock import RealtimeTie
from ._ring import UNAVAILABLE, UNCHANGED, VALUE, ZERO, RingRows

#: Why an UNCHANGED row is a gap: it came first, or the ring keeps the value before it no more.
NOTHING_TO_REPEAT = "unchanged, and the value before is not known"


@dataclass(frozen=True)
class Samples:
    """What was recorded of one counter group, oldest first; n rows.

    Attributes
    ----------
    name : str
        The group's name, with ``#2`` where a second sampler ran beside a first.
    schema : nvtx_schema.Schema
        The fields with their dtypes, units and limits.
    time : int64 array, shape (n,)
        Real time in ns since 1970, derived from `monotonic` by one offset.
    monotonic : int64 array, shape (n,)
        ``CLOCK_MONOTONIC`` in ns: the middle of the read.
    error : int64 array, shape (n,)
        Half the length of the read: the value was true within `error` ns of the time.
    values : mapping of str to array, shape (n,)
        One array a field, in the field's dtype; meaningless where not `valid`.
    valid : mapping of str to bool array, shape (n,)
        False where the value is unknown.
    gap : list of (str or None), length n
        Why a row has no values.
    known : bool array, shape (n,)
        Whether the row has values, its own or repeated ones; False for a gap.
    state : uint8 array, shape (n,)
        0 for a row with values, else 1 plus the number of its ``CounterNoValueReason``.
    """

    name: str
    schema: Schema
    time: npt.NDArray[np.int64]
    monotonic: npt.NDArray[np.int64]
    error: npt.NDArray[np.int64]
    values: Mapping[str, npt.NDArray[Any]]
    valid: Mapping[str, npt.NDArray[np.bool_]]
    gap: list[str | None]
    known: npt.NDArray[np.bool_]
    state: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.time)

    def unit(self, field: str) -> str:
        """Return the unit of a field, ``""`` where it has none."""
        semantics = self.schema.fields[field].semantics
        return semantics.unit.decode() if semantics and semantics.unit else ""

    def runs(self) -> Iterator[tuple[CounterNoValueReason | None, slice]]:
        """Yield stretches of rows: (None, rows) with values, (reason, one row) without."""
        reasons = {reason.value + 1: reason for reason in CounterNoValueReason}
        at = 0
        for end in (*np.flatnonzero(self.state != VALUE).tolist(), len(self)):
            if at < end:
                yield None, slice(at, end)
            if end < len(self):
                yield reasons[int(self.state[end])], slice(end, end + 1)
            at = end + 1

    def packed(self, rows: slice) -> npt.NDArray[np.void]:
        """Return rows as one structured array of ``schema.dtype``, for nvtx's batch calls."""
        table = np.zeros(len(self.time[rows]), self.schema.dtype)
        for field, column in self.values.items():
            table[field] = column[rows]
        return table


def samples_of(
    name: str, schema: Schema, rows: RingRows, texts: list[str], tie: RealtimeTie
) -> Samples:
    """Turn raw rows of a ring into samples: states resolved, times on both clocks."""
    said = (rows.state == VALUE) | (rows.state == ZERO)
    # UNCHANGED repeats the last value that was said, also across a gap.
    latest = np.maximum.accumulate(np.where(said, np.arange(len(said)), 0))
    state = rows.state[latest]
    known = said | ((rows.state == UNCHANGED) & said[latest])
    values, valid = {}, {}
    for field, column in zip(schema.names, rows.columns, strict=True):
        shown = np.where(state == VALUE, column[latest], column.dtype.type(0))
        valid[field] = known & ~np.isnan(shown)
        values[field] = shown
    return Samples(
        name=name,
        schema=schema,
        time=rows.time + tie.offset_ns,
        monotonic=rows.time,
        error=rows.error,
        values=values,
        valid=valid,
        gap=_explained(rows, known, texts),
        known=known,
        state=rows.state,
    )


def _explained(rows: RingRows, known: npt.NDArray[np.bool_], texts: list[str]) -> list[str | None]:
    """Return for each row without values why it has none."""
    missing = rows.state == UNAVAILABLE
    return [
        None if there else texts[number] if out else NOTHING_TO_REPEAT
        for there, number, out in zip(known, rows.reason, missing, strict=True)
    ]
