# SPDX-License-Identifier: Apache-2.0
"""Which texts of a column become registered strings, and how wide the others are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nvtx_replay._column import Array, Column, Mask
from nvtx_replay._strings import StringStore


@dataclass(frozen=True)
class TextPlan:
    """How the texts of one column travel.

    Attributes
    ----------
    labels : list of str
        The distinct texts.
    codes : numpy.ndarray of int64
        The text of each row, as an index into ``labels``.
    registered : numpy.ndarray of bool
        For each row, whether its text travels as the handle of a registered string.
    widths : numpy.ndarray of int64
        For each row, the code points that a fixed-width field needs: a power of two, 0 where
        the text is registered.
    """

    labels: list[str]
    codes: NDArray[np.int64]
    registered: Mask
    widths: NDArray[np.int64]

    def width(self, rows: Array) -> int:
        """Return the code points that a fixed-width field of some rows needs."""
        labels = np.unique(self.codes[rows]).tolist()
        return _width(max(len(self.labels[code]) for code in labels))

    def texts(self, rows: Array) -> list[str]:
        """Return the texts of some rows."""
        return [self.labels[code] for code in self.codes[rows].tolist()]

    def handles(self, rows: Array, strings: StringStore) -> NDArray[np.uintp]:
        """Register the texts of rows that travel as handles; return the handles."""
        used, inverse = np.unique(self.codes[rows], return_inverse=True)
        known = [strings.handle(self.labels[code]) for code in used.tolist()]
        return np.array(known, dtype=np.uintp)[inverse]


def plan_texts(column: Column, strings: StringStore, *, per_row: bool) -> TextPlan:
    """Decide how a text column travels.

    Text that occurs twice in the column, that the domain knows already or that stands in a
    dictionary is registered while the domain has room. The rest travels in the row.

    Parameters
    ----------
    column : Column
        A text column. Rows without a value count as empty text.
    strings : StringStore
        The domain's registered strings; room is set aside in it.
    per_row : bool
        Whether rows of one column may differ in this; otherwise all are registered or none.
    """
    labels, codes = _distinct(column)
    counts = np.bincount(codes, minlength=len(labels))
    repeated = counts > (0 if column.labels is not None else 1)
    wanted = [label if often else None for label, often in zip(labels, repeated, strict=True)]
    if per_row:
        admitted = strings.admit(wanted, labels)
    else:
        most = 2 * len(labels) <= len(codes) or column.labels is not None
        admitted = strings.admit_all(labels) if most else [False] * len(labels)
    by_label = np.array(admitted, dtype=bool)
    needed = np.array([_width(len(label)) for label in labels], dtype=np.int64)
    needed[by_label] = 0
    return TextPlan(labels, codes, by_label[codes], needed[codes])


def _distinct(column: Column) -> tuple[list[str], NDArray[np.int64]]:
    if column.labels is not None and column.nulls is None:
        used, codes = np.unique(column.values, return_inverse=True)
        return [column.labels[code] for code in used.tolist()], codes.astype(np.int64)
    texts = column.texts()
    index: dict[str, int] = {}
    codes = np.fromiter(
        (index.setdefault(text, len(index)) for text in texts), np.int64, len(texts)
    )
    return list(index), codes


def _width(length: int) -> int:
    """Round up to a power of two, so that the layouts of a domain stay few."""
    return 1 << max(length - 1, 7).bit_length() if length > 8 else 8
