# SPDX-License-Identifier: Apache-2.0
"""Rows that share one layout: the same fields present, the same texts registered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nvtx_replay._column import Mask
from nvtx_replay._texts import TextPlan
from nvtx_replay._times import Times
from nvtx_replay.errors import TableError

Rows = NDArray[np.int64]

MAX_LAYOUTS = 4096


def layout_keys(
    nulls: Sequence[Mask | None], texts: Sequence[TextPlan], count: int
) -> NDArray[np.int64]:
    """Return a number a row; rows with equal numbers can share a layout.

    Parameters
    ----------
    nulls : sequence of numpy.ndarray of bool or None
        For each field, the rows that leave it out.
    texts : sequence of TextPlan
        Texts; a row's width is that of the widest it does not send as a handle.
    count : int
        The number of rows.
    """
    keys = np.zeros(count, dtype=np.int64)
    for plan in texts:
        keys = np.maximum(keys, plan.widths)
    for plan in texts:
        if plan.registered.any() and not plan.registered.all():
            keys = _renumbered(keys) * 2 + plan.registered
    for absent in nulls:
        if absent is not None:
            keys = _renumbered(keys) * 2 + absent
    keys = _renumbered(keys)
    layouts = int(keys.max(initial=0)) + 1
    if layouts > MAX_LAYOUTS:
        raise TableError(
            f"missing values make {layouts} different layouts of rows, more than {MAX_LAYOUTS}; "
            "fill them, or write fewer columns at once"
        )
    return keys


def _renumbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keep the order of the keys, but make them small."""
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def groups(
    keys: NDArray[np.int64], begins: Times, ends: Times, *, keep_order: bool
) -> Iterator[Rows]:
    """Yield row numbers, ascending, to be written together.

    Batches of different layouts follow one another, although rows of equal begin and end nest
    in the order in which they are written. Such rows come last, in runs of one layout.

    Parameters
    ----------
    keys : numpy.ndarray of int64
        The layout of each row.
    begins, ends : numpy.ndarray of int64
        The times of each row.
    keep_order : bool
        Keep the order of all rows, whatever it costs in batches.
    """
    if not len(keys):
        return
    if keep_order or not keys.any():
        yield from _runs(np.arange(len(keys)), keys)
        return
    late = _out_of_order_ties(keys, begins, ends)
    early = np.flatnonzero(~late)
    yield from _runs(early[np.argsort(keys[early], kind="stable")], keys)
    yield from _runs(np.flatnonzero(late), keys)


def _runs(rows: Rows, keys: NDArray[np.int64]) -> Iterator[Rows]:
    if rows.size:
        yield from np.split(rows, np.flatnonzero(np.diff(keys[rows])) + 1)


def _out_of_order_ties(keys: NDArray[np.int64], begins: Times, ends: Times) -> Mask:
    """Mark rows of equal times that grouping by layout would put into another order."""
    order = np.lexsort((ends, begins))  # stable: rows of equal times stay in their order
    tied = (begins[order][1:] == begins[order][:-1]) & (ends[order][1:] == ends[order][:-1])
    falls = np.concatenate(([False], tied & (np.diff(keys[order]) < 0)))
    tie_starts = np.flatnonzero(np.concatenate(([True], ~tied)))
    broken = np.logical_or.reduceat(falls, tie_starts)
    late = np.zeros(len(keys), dtype=bool)
    late[order] = np.repeat(broken, np.diff(np.append(tie_starts, len(keys))))
    return late
