# SPDX-License-Identifier: Apache-2.0
"""Texts and JSON values as texts that NVTX can carry."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
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
    kind = type(value)
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    if kind is list:
        return f"[{', '.join([_PLAIN.get(type(item), json_text)(item) for item in value])}]"
    if kind is dict:
        return "{" + ", ".join(f"{json_text(k)}: {json_text(v)}" for k, v in value.items()) + "}"
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    return _number_text(value)


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
