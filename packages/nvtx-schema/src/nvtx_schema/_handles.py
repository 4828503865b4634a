# SPDX-License-Identifier: Apache-2.0
"""Columns of identifiers: string handles, categories, colors and scopes.

Text becomes an identifier only when everything else was found to be in order, so that a
faulty table never reaches the backend.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from nvtx import PayloadEntryType, PredefinedScope

from ._column import Array, Column, ColumnFault, rows_of
from ._numbers import to_number
from ._storage import DType
from ._text import require_texts

Later = Callable[[], Array]

_COLOR = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


def to_identifier(
    column: Column, entry_type: PayloadEntryType, target: DType, domain: Any
) -> Array | Later:
    """Convert to identifiers; text that must be registered comes back as work for later."""
    column = _unwrapped(column)
    if not _holds_text(column):
        numbers = to_number(column.decoded(), target, "exact")
        if entry_type is PayloadEntryType.RANGE_ID and not numbers.all():
            found = "0 stands where a range id is expected"
            raise ColumnFault(
                found, "count from 1; NVTX takes 0 for no range", rows_of(numbers == 0)
            )
        return numbers
    distinct, codes = _distinct(column)
    if entry_type is PayloadEntryType.COLOR_ARGB:
        return _colors(distinct, codes, target)
    if entry_type is PayloadEntryType.REGISTERED_STRING:
        return _registration(distinct, codes, target, domain, "get_registered_string")
    if entry_type is PayloadEntryType.CATEGORY:
        return _registration(distinct, codes, target, domain, "get_category_id")
    found = f"text stands where a {entry_type.name} is expected"
    raise ColumnFault(found, "pass integers or the objects that nvtx.writer returned")


def to_enum_text(column: Column, labels: tuple[tuple[str, int], ...]) -> Column:
    """Return the names of Enum members; names given as text must be among the labels."""
    values = column.decoded()
    if values.dtype.kind not in "OU":
        return column
    known = {name for name, _ in labels}
    flat = values.tolist()
    names = [v if type(v) is str else getattr(v, "name", None) for v in flat]
    bad = np.array(
        [_is_other(v, name, known) for v, name in zip(flat, names, strict=True)], dtype=bool
    )
    if bad.any():
        found = f"values are no members ({', '.join(sorted(known))})"
        raise ColumnFault(found, "pass members of the Enum or their names", rows_of(bad))
    kept = [v if hasattr(v, "handle") else name for v, name in zip(flat, names, strict=True)]
    return Column(np.fromiter(kept, dtype=object, count=len(kept)))


def _is_other(value: Any, name: Any, known: set[str]) -> bool:
    return not hasattr(value, "handle") and name not in known


def _unwrapped(column: Column) -> Column:
    """Take the numbers out of nvtx objects (registered strings, scopes)."""
    values = column.decoded()
    if values.dtype.kind != "O" or not len(values):
        return column
    flat = values.tolist()
    if all(type(value) is str for value in flat):
        return column
    plain = [_number_in(value) for value in flat]
    return Column(np.fromiter(plain, dtype=object, count=len(plain)))


def _number_in(value: Any) -> Any:
    if isinstance(value, PredefinedScope):
        return value.value
    for attribute in ("handle", "scope_id"):
        number = getattr(value, attribute, None)
        if isinstance(number, int):
            return number
    return value


def _holds_text(column: Column) -> bool:
    values = column.values if column.labels is None else column.labels
    if values.dtype.kind == "O":
        return any(isinstance(value, str) for value in values.tolist())
    return bool(values.dtype.kind == "U")


def _distinct(column: Column) -> tuple[list[str], Array]:
    """Return the distinct texts in order of first use, and each row's index into them."""
    if column.labels is not None:
        used, codes = np.unique(column.values, return_inverse=True)
        return require_texts(column.labels[used]), codes.reshape(-1)
    texts = require_texts(column.values)
    index: dict[str, int] = {}
    codes = np.fromiter(
        (index.setdefault(text, len(index)) for text in texts), dtype=np.intp, count=len(texts)
    )
    return list(index), codes


def _registration(
    distinct: list[str], codes: Array, target: DType, domain: Any, method: str
) -> Later:
    if domain is None:
        found = "text must be registered in a domain"
        remedy = "pass domain= (an nvtx.writer.Domain), or handles instead of text"
        raise ColumnFault(found, remedy)
    register = getattr(domain, method, None)
    if register is None:
        found = f"domain= is a {type(domain).__name__}, which has no {method}"
        raise ColumnFault(found, "pass an nvtx.writer.Domain")

    def resolve() -> Array:
        numbers = np.array([_number_in(register(text)) for text in distinct], dtype=target)
        return np.asarray(numbers[codes])

    return resolve


def _colors(distinct: list[str], codes: Array, target: DType) -> Array:
    bad = np.array([_COLOR.fullmatch(text) is None for text in distinct], dtype=bool)
    if bad.any():
        found = f"{distinct[int(np.flatnonzero(bad)[0])]!r} is no color"
        raise ColumnFault(found, "use 0xAARRGGBB or '#RRGGBB'", rows_of(bad[codes]))
    numbers = [int(text[1:], 16) | (0xFF000000 if len(text) == 7 else 0) for text in distinct]
    return np.asarray(np.array(numbers, dtype=target)[codes])
