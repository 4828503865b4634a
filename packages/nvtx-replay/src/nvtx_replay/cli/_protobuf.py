# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages as (field number, value) pairs, straight from bytes.

The wire format is that of the Protocol Buffers documentation, "Encoding"; groups are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

Buffer: TypeAlias = "bytes | memoryview"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """Bytes that are no protobuf message."""


def varint(data: Buffer, at: int) -> tuple[int, int]:
    """Return the varint at a place and the place behind it."""
    value = shift = 0
    try:
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7
            if shift > 63:
                raise WireError("a varint of more than ten bytes")
    except IndexError:
        raise WireError("a varint ends early") from None


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield a message's fields: integers for numbers, bytes for texts, bytes and messages."""
    at, size = 0, len(data)
    while at < size:
        tag = data[at]
        at += 1
        if tag >= 0x80:
            tag, at = varint(data, at - 1)
        wire = tag & 7
        if wire == _VARINT:
            value, at = varint(data, at)
            yield tag >> 3, value
            continue
        if wire == _BYTES:
            length, at = varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise WireError(f"wire type {wire}")
        if at + length > size:
            raise WireError("a field ends early")
        part = data[at : at + length]
        at += length
        yield tag >> 3, part if wire == _BYTES else int.from_bytes(part, "little")


def text(value: int | bytes) -> str:
    """Return a field's bytes as text."""
    return "" if isinstance(value, int) else value.decode("utf-8", "replace")


def signed(value: int | bytes) -> int:
    """Return a varint as the int64 that it stands for."""
    number = value if isinstance(value, int) else 0
    return number - (1 << 64) if number >= 1 << 63 else number
