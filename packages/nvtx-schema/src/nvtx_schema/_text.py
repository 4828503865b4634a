# SPDX-License-Identifier: Apache-2.0
"""Text conversions: nothing is cut, padded into another value, or sent in a broken form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._column import Array, Column, ColumnFault, is_missing, missing, rows_of
from ._storage import DType

_SURROGATES = (0xD800, 0xDFFF)


def to_text(column: Column, target: DType, truncate: bool) -> Array:
    """Check text for a fixed-width field; raises ColumnFault with the rows that do not fit."""
    if column.labels is not None:
        return _per_label(column, target, truncate)
    if column.values.dtype.kind == "U":
        return _from_fixed(column.values, target, truncate)
    texts = require_texts(column.values)
    width = target.itemsize // 4
    lengths = np.fromiter(map(len, texts), dtype=np.intp, count=len(texts))
    _refuse_long(lengths > width, width, "code points", truncate)
    return np.array(texts, dtype=f"U{max(1, min(width, lengths.max(initial=0)))}")


def _per_label(column: Column, target: DType, truncate: bool) -> Array:
    """Convert each distinct value once; faults are reported for the rows that use it."""
    used = np.unique(column.values)
    try:
        done = to_text(Column(column.labels[used]), target, truncate)  # type: ignore[index]
    except ColumnFault as fault:
        bad = np.isin(column.values, used[list(fault.rows)] if fault.rows else used)
        raise ColumnFault(fault.found, fault.remedy, rows_of(bad)) from None
    return np.asarray(done[np.searchsorted(used, column.values)])


def _from_fixed(values: Array, target: DType, truncate: bool) -> Array:
    values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    width = values.dtype.itemsize // 4
    points = values.view(np.uint32).reshape(values.size, width)
    # Trailing zeros are NumPy's padding; a zero before the end is a NUL in the text.
    _refuse_nul(np.count_nonzero(points, axis=1) != np.char.str_len(values))
    low, high = _SURROGATES
    if points.max() >= low:
        _refuse_surrogates(np.asarray(((points >= low) & (points <= high)).any(axis=1)))
    room = target.itemsize // 4
    if width > room:
        _refuse_long((points[:, room:] != 0).any(axis=1), room, "code points", truncate)
    # NumPy pads, or cuts where that is allowed, as the rows are filled: no wide copy before.
    return values


def require_texts(values: Array) -> list[str]:
    """Return the values as a list of sound str; raises ColumnFault where one is not."""
    if values.dtype.kind not in "UO":
        remedy = "convert the column to str first"
        raise ColumnFault(f"{values.dtype} values stand where text is expected", remedy)
    texts: list[Any] = values.tolist()
    if set(map(type, texts)) - {str}:
        _refuse_other_types(texts)
    joined = "".join(texts)
    if "\0" in joined:
        _refuse_nul(np.array(["\0" in text for text in texts]))
    if not joined.isascii() and not _encodes(joined):
        _refuse_surrogates(np.array([not _encodes(text) for text in texts]))
    return texts


def _refuse_other_types(texts: list[Any]) -> None:
    empty = np.array([is_missing(value) for value in texts])
    if empty.any():
        raise missing(empty)
    bad = np.array([not isinstance(value, str) for value in texts])
    if bad.any():
        sample = type(texts[int(np.flatnonzero(bad)[0])]).__name__
        remedy = "decode bytes, and convert other values with str()"
        found = f"{sample} values stand where text is expected"
        raise ColumnFault(found, remedy, rows_of(bad))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_nul(bad: Array) -> None:
    if bad.any():
        found = "text contains a NUL, where readers stop"
        raise ColumnFault(found, "remove it", rows_of(bad))


def _refuse_surrogates(bad: Array) -> None:
    if bad.any():
        found = "text contains lone surrogates, which are no characters"
        raise ColumnFault(found, "replace them (they often come from wrong decoding)", rows_of(bad))


def _refuse_long(too_long: Any, width: int, unit: str, truncate: bool) -> None:
    bad = np.asarray(too_long, dtype=bool)
    if bad.any() and not truncate:
        found = f"values are longer than {width} {unit}"
        raise ColumnFault(found, "widen the field or pass truncate=True", rows_of(bad))


def to_bytes(values: Array, target: DType, truncate: bool) -> Array:
    """Convert to fixed-width bytes; raises ColumnFault with the rows that do not fit."""
    width = target.itemsize
    if values.dtype.kind == "S":
        if values.dtype.itemsize > width:
            lengths = np.char.str_len(values)
            _refuse_long(lengths > width, width, "bytes", truncate)
        return values.astype(target, copy=False)
    items: list[Any] = values.tolist() if values.dtype.kind == "O" else []
    bad = np.array([not isinstance(item, bytes) for item in items], dtype=bool)
    if values.dtype.kind != "O" or bad.any():
        found = "values that are not bytes stand where bytes are expected"
        raise ColumnFault(found, "encode text with str.encode()", rows_of(bad))
    _refuse_long([len(item) > width for item in items], width, "bytes", truncate)
    padded = np.array([item[:width].endswith(b"\0") for item in items], dtype=bool)
    if padded.any():
        found = "bytes end in NUL, which NumPy takes for padding"
        raise ColumnFault(found, f"use an array field, ('u1', {width})", rows_of(padded))
    return np.array(items, dtype=target)
