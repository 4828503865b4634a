# SPDX-License-Identifier: Apache-2.0
"""Tables of marks and ranges: checked as a whole, then packed by layout."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nvtx_replay._event_columns import EventColumns
from nvtx_replay._event_packer import EventRows, Packer
from nvtx_replay._ordering import Promise
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._spans import check_promise, ends_after, ends_not_before
from nvtx_replay._strings import StringStore
from nvtx_replay._times import Times, times_of


def pack_events(
    parts: EventColumns, rows: RowFaults, strings: StringStore, promise: Promise, *, dates: bool
) -> Iterator[EventRows]:
    """Check a whole table, and return its rows, which are packed as they are asked for.

    The backend has seen nothing of the table when this returns, and what is left cannot fail
    but in the backend.
    """
    begins = times_of(parts.begin, rows, dates=dates)
    ends = _ends(parts, begins, rows, dates=dates)
    parts = parts.with_texts(rows)
    check_promise(promise, begins, ends, rows)
    kept = np.flatnonzero(rows.keep)
    chosen = parts.select(kept).settled(kept)
    return Packer(chosen, begins[kept], ends[kept], strings).pack(keep_order=promise.active)


def _ends(parts: EventColumns, begins: Times, rows: RowFaults, *, dates: bool) -> Times:
    if parts.duration is not None:
        return ends_after(begins, times_of(parts.duration, rows, dates=False), rows)
    if parts.end is None:
        return begins
    return ends_not_before(begins, times_of(parts.end, rows, dates=dates), rows)
