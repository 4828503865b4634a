# SPDX-License-Identifier: Apache-2.0
"""Tables of marks and ranges: checked as a whole, then packed by layout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nvtx_replay._column import Column
from nvtx_replay._event_packer import EventColumns, EventRows, Packer
from nvtx_replay._ordering import Promise
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._spans import check_promise, ends_after, ends_not_before
from nvtx_replay._strings import StringStore
from nvtx_replay._texts import read_texts
from nvtx_replay._times import Times, times_of
from nvtx_replay.errors import TableError


def pack_events(
    parts: EventColumns, rows: RowFaults, strings: StringStore, promise: Promise, *, dates: bool
) -> list[EventRows]:
    """Check a table and pack the rows that are to be written; the backend sees nothing yet."""
    begins = times_of(parts.begin, rows, dates=dates)
    ends = _ends(parts, begins, rows, dates=dates)
    parts = _with_texts(parts, rows)
    check_promise(promise, begins, ends, rows)
    kept = np.flatnonzero(rows.keep)
    packer = Packer(parts.select(kept), begins[kept], ends[kept], kept, strings)
    return list(packer.pack(keep_order=promise.active))


def _ends(parts: EventColumns, begins: Times, rows: RowFaults, *, dates: bool) -> Times:
    if parts.duration is not None:
        return ends_after(begins, times_of(parts.duration, rows, dates=False), rows)
    if parts.end is None:
        return begins
    return ends_not_before(begins, times_of(parts.end, rows, dates=dates), rows)


def _with_texts(parts: EventColumns, rows: RowFaults) -> EventColumns:
    """Read the columns of text, which are checked like the times."""

    def read(column: Any) -> Any:
        is_text = isinstance(column, Column) and column.is_text
        return read_texts(column, rows) if is_text else column

    if isinstance(parts.message, Column) and not parts.message.is_text:
        raise TableError(
            f"column {parts.message.name!r} holds values of dtype {parts.message.values.dtype}; "
            "expected text for messages. Convert it with str, or pass message=None"
        )
    message, category = read(parts.message), read(parts.category)
    payload = {name: read(column) for name, column in parts.payload.items()}
    return replace(parts, message=message, category=category, payload=payload)
