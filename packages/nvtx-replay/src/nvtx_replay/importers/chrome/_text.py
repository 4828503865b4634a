# SPDX-License-Identifier: Apache-2.0
"""Texts and JSON values as texts that NVTX can carry."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any

from nvtx_replay.importers.chrome._json_events import Number

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# NVTX texts end at the first NUL; U+2400 is its visible picture.
_NUL_PICTURE = "␀"


def clean(text: str) -> str:
    """Return ``text`` as a plain str without lone surrogates and NUL, which NVTX cannot carry.

    A lone surrogate stands for a byte that is no UTF-8, or comes from an unpaired escape; it
    becomes U+FFFD. NUL becomes U+2400.
    """
    if not text.isascii():
        text = _LONE_SURROGATE.sub("\ufffd", text)
    return text.replace("\0", _NUL_PICTURE) if "\0" in text else str(text)


_PLAIN: dict[type, Callable[[Any], str]] = {str: encode_basestring, Number: str}


def json_text(value: Any) -> str:
    """Return a parsed JSON value as JSON text; decimals keep the digits of the input."""
    try:
        return _nested_text(value)
    except RecursionError:
        return "".join(_parts(value))


def _nested_text(value: Any) -> str:
    kind = type(value)
    if kind is list:
        return f"[{', '.join([_PLAIN.get(type(item), _nested_text)(item) for item in value])}]"
    if kind is dict:
        items = [f"{_nested_text(key)}: {_nested_text(item)}" for key, item in value.items()]
        return "{" + ", ".join(items) + "}"
    return _scalar_text(value)


def _scalar_text(value: Any) -> str:
    if (plain := _PLAIN.get(type(value))) is not None:
        return plain(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number_text(value)


@dataclass(frozen=True)
class _Literal:
    text: str


def _parts(value: Any) -> Iterator[str]:
    """Yield the same text in pieces, at any depth: Python decodes deeper than it recurses."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Literal):
            yield item.text
        elif type(item) is list:
            stack += [_Literal("]"), *_separated([[part] for part in item]), _Literal("[")]
        elif type(item) is dict:
            pairs = [[part, _Literal(": "), key] for key, part in item.items()]
            stack += [_Literal("}"), *_separated(pairs), _Literal("{")]
        else:
            yield _scalar_text(item)


def _separated(groups: list[list[Any]]) -> Iterator[Any]:
    """Yield groups from the last to the first, as a stack takes them, with commas between."""
    for at in range(len(groups) - 1, -1, -1):
        yield from groups[at]
        if at:
            yield _Literal(", ")


def _number_text(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    try:
        return str(value)
    except ValueError:  # Python's limit on the digits of an int
        return hex(value)


def as_text(value: Any) -> str:
    """Return a value as a name: texts as they are, anything else as JSON."""
    return clean(value if isinstance(value, str) else json_text(value))
