# SPDX-License-Identifier: Apache-2.0
"""Which texts of a column become registered strings, and how wide the others are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nvtx_replay._column import Array, Column, Mask
from nvtx_replay._row_faults import RowFaults
from nvtx_replay._strings import StringStore, registrable

_WIDTHS = 1 << np.arange(3, 48, dtype=np.int64)


@dataclass(frozen=True)
class Texts:
    """The texts of a column: each distinct one once, and the one of each row.

    Attributes
    ----------
    labels : list of str
        The distinct texts.
    codes : numpy.ndarray of int64
        The text of each row, as an index into ``labels``.
    from_dictionary : bool
        Whether the column was dictionary-encoded or categorical.
    nulls : numpy.ndarray of bool or None
        True where a row has no text; its code is then that of empty text.
    """

    labels: list[str]
    codes: NDArray[np.int64]
    from_dictionary: bool
    nulls: Mask | None = None

    def select(self, rows: Array) -> Texts:
        """Return the texts of some rows."""
        nulls = None if self.nulls is None else self.nulls[rows]
        return replace(self, codes=self.codes[rows], nulls=nulls)

    def used(self) -> NDArray[np.int64]:
        """Return the indices of the labels that occur."""
        return np.unique(self.codes)


def read_texts(column: Column, rows: RowFaults) -> Texts:
    """Return the texts of a column, empty where it has no value.

    Text that UTF-8 or C strings cannot hold is a fault of its rows; a repair replaces the signs
    in question by U+FFFD.
    """
    labels, codes = _distinct(column)
    if not registrable(*labels):
        wrong = np.array([not registrable(label) for label in labels], dtype=bool)
        repaired = rows.check(
            "invalid_text",
            wrong[codes],
            lambda row: (
                f"holds {labels[codes[row]]!r:.80} in column {column.name!r}, which has a "
                "NUL or half of a surrogate pair"
            ),
        )
        if repaired.any():
            labels = [_repaired(label) for label in labels]
    return Texts(labels, codes, column.labels is not None, column.nulls)


def _repaired(text: str) -> str:
    return (
        text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def _distinct(column: Column) -> tuple[list[str], NDArray[np.int64]]:
    if column.labels is not None and column.nulls is None:
        used, codes = np.unique(column.values, return_inverse=True)
        return [column.labels[code] for code in used.tolist()], codes.astype(np.int64)
    texts = column.texts()
    index = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    codes = np.fromiter(map(index.__getitem__, texts), np.int64, len(texts))
    return list(index), codes


@dataclass(frozen=True)
class TextPlan:
    """How the texts of one column travel.

    Attributes
    ----------
    texts : Texts
        The texts themselves.
    registered : numpy.ndarray of bool
        For each row, whether its text travels as the handle of a registered string.
    widths : numpy.ndarray of int64
        For each row, the code points that a fixed-width field needs: a power of two, 0 where
        the text is registered.
    """

    texts: Texts
    registered: Mask
    widths: NDArray[np.int64]

    def width(self, rows: Array) -> int:
        """Return the code points that a fixed-width field of some rows needs."""
        labels = self.texts.labels
        longest = max(len(labels[code]) for code in self.texts.select(rows).used().tolist())
        return int(_widths([longest])[0])

    def plain(self, rows: Array) -> list[str]:
        """Return the texts of some rows."""
        return [self.texts.labels[code] for code in self.texts.codes[rows].tolist()]

    def handles(self, rows: Array, strings: StringStore) -> NDArray[np.uintp]:
        """Register the texts of rows that travel as handles; return the handles."""
        used, inverse = np.unique(self.texts.codes[rows], return_inverse=True)
        known = [strings.handle(self.texts.labels[code]) for code in used.tolist()]
        return np.array(known, dtype=np.uintp)[inverse]


def plan_texts(texts: Texts, strings: StringStore, *, per_row: bool) -> TextPlan:
    """Decide how texts travel; room for those to be registered is set aside.

    Parameters
    ----------
    texts : Texts
        The texts of the rows that are to be written.
    strings : StringStore
        The domain's registered strings.
    per_row : bool
        Register what occurs twice, was met before or stands in a dictionary, and let the rest
        travel in the row; otherwise register all, if they repeat twice on average, or none.
    """
    used = texts.used()
    labels = [texts.labels[code] for code in used.tolist()]
    if per_row:
        counts = np.bincount(texts.codes, minlength=len(texts.labels))[used]
        admitted = strings.admit(labels, (counts > 1) | texts.from_dictionary)
    else:
        worth = texts.from_dictionary or 2 * len(used) <= len(texts.codes)
        admitted = [worth and strings.admit_all(labels)] * len(labels)
    by_label = np.zeros(len(texts.labels), dtype=bool)
    by_label[used] = admitted
    needed = np.zeros(len(texts.labels), dtype=np.int64)
    needed[used] = _widths(list(map(len, labels)))
    needed[by_label] = 0
    return TextPlan(texts, by_label[texts.codes], needed[texts.codes])


def _widths(lengths: list[int]) -> NDArray[np.int64]:
    """Round up to powers of two, so that the layouts of a domain stay few."""
    return _WIDTHS[np.searchsorted(_WIDTHS, lengths)]
