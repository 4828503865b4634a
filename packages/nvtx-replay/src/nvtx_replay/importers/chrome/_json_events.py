# SPDX-License-Identifier: Apache-2.0
"""Trace Event Format JSON as a stream of events, in bounded memory.

The format (Google's "Trace Event Format" document) is an object with the key ``traceEvents`` or a
bare array of events, whose closing bracket may be missing. Decoding is done by the standard
library's C scanner, one event at a time, over a sliding window of text.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

MAX_VALUE_CHARS = 64 << 20
"""One event, or one value beside the events, may be this long."""

_COMPACT_AT = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMAS = re.compile(r"[ \t\r\n,]*")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
# An error this close to the end of the window may come from the cut itself, as in "tru|e".
_CUT_MARGIN = 16
_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")


class Number(str):
    """A decimal number as its text, so that not a digit is lost."""

    __slots__ = ()


class JsonFault(Exception):
    """Where and why reading had to stop.

    Parameters
    ----------
    offset : int
        Byte offset in the (decompressed) input.
    reason : str
        What was found there.
    """

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"{reason} at byte {offset}")
        self.offset = offset
        self.reason = reason


def _long_integer(text: str) -> int | Number:
    try:
        return int(text)
    except ValueError:  # Python's limit on the digits of an int
        return Number(text)


_decoder = json.JSONDecoder(parse_float=Number, strict=False)
_decode = _decoder.raw_decode
# The C function under raw_decode; it says by StopIteration that there is no value.
_decode_event = cast("Callable[[str, int], tuple[Any, int]]", vars(_decoder)["scan_once"])
# A parse_int of our own is three times slower, so only values that the first one refuses see it.
_decode_long = json.JSONDecoder(
    parse_float=Number, parse_int=_long_integer, strict=False
).raw_decode


class EventReader:
    """Yield every event of one pass over the input.

    Parameters
    ----------
    chunks : iterable of bytes
        The decompressed input.

    Attributes
    ----------
    header : dict
        Values beside the events, by key; complete when the iteration ends.
    fault : JsonFault or None
        Why the iteration ended early, if it did.
    invalid_bytes : int
        Bytes that are no UTF-8. Each appears in texts as one lone surrogate (PEP 383).
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._at = 0
        self._bytes_before = 0
        self._ended = False
        self.header: dict[str, Any] = {}
        self.fault: JsonFault | None = None
        self.invalid_bytes = 0

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._document()
        except JsonFault as fault:
            self.fault = fault

    def _document(self) -> Iterator[Any]:
        self._fill()
        if self._text.startswith("\ufeff"):
            self._at = 1
        opening = self._next_char(_SPACE)
        if opening not in ("[", "{"):
            raise self._broken("expected '[' or '{'", opening)
        self._at += 1
        if opening == "[":
            yield from self._array(end_required=False)
        else:
            yield from self._object()
        if trailing := self._next_char(_SPACE_AND_COMMAS):
            raise self._broken("expected the end of the file", trailing)

    def _object(self) -> Iterator[Any]:
        while (char := self._next_char(_SPACE_AND_COMMAS)) != "}":
            if char != '"':
                raise self._broken("expected a key or '}'", char)
            key = self._value()
            if (colon := self._next_char(_SPACE)) != ":":
                raise self._broken(f"expected ':' after {key!r}", colon)
            self._at += 1
            if self._next_char(_SPACE) == "[" and key == "traceEvents":
                self._at += 1
                yield from self._array(end_required=True)
            else:
                self.header[key] = self._value()
        self._at += 1

    def _array(self, *, end_required: bool) -> Iterator[Any]:
        # The hot loop: one event a turn, straight from the window where that is possible.
        skip = _SPACE_AND_COMMAS.match
        while True:
            at = skip(self._text, self._at).end()  # type: ignore[union-attr]
            if self._text.startswith("{", at):
                try:
                    event, self._at = _decode_event(self._text, at)
                except (ValueError, StopIteration, RecursionError):
                    self._at = at
                    event = self._value()
                yield event
                if self._at > _COMPACT_AT:
                    self._compact()
                continue
            self._at = at
            char = self._next_char(_SPACE_AND_COMMAS)
            if char == "{":
                continue
            if char == "]":
                self._at += 1
                return
            if not char:
                if end_required:
                    raise self._broken("expected an event or ']'", char)
                return
            yield self._value()

    def _value(self) -> Any:
        """Decode the value at the current place, reading on until it is whole."""
        while True:
            try:
                value, end = self._decoded()
            except json.JSONDecodeError as error:
                if self._may_be_cut(error) and self._fill():
                    continue
                if self._ended or not self._may_be_cut(error):
                    raise self._malformed(error) from None
                raise self._broken(
                    f"a value longer than {MAX_VALUE_CHARS} characters", ""
                ) from None
            except RecursionError:
                raise self._broken("a value nested too deeply", "") from None
            # A number that ends with the window may go on behind it.
            if end == len(self._text) and not self._ended and self._fill():
                continue
            self._at = end
            return value

    def _decoded(self) -> tuple[Any, int]:
        try:
            return _decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except ValueError:
            return _decode_long(self._text, self._at)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        # An unterminated string is reported where it begins, everything else where it is met.
        if error.msg.startswith("Unterminated string"):
            return True
        if error.pos < len(self._text) - _CUT_MARGIN:
            return False
        tail = self._text[error.pos :].rstrip()
        return (
            not self._ended
            or error.msg.startswith("Invalid \\u")
            or any(literal.startswith(tail) for literal in _LITERALS)
        )

    def _malformed(self, error: json.JSONDecodeError) -> JsonFault:
        begin = self._offset(self._at)
        if self._may_be_cut(error):
            end = self._offset(len(self._text))
            return JsonFault(end, f"the input ends inside the value that begins at byte {begin},")
        return JsonFault(
            self._offset(error.pos),
            f"malformed JSON ({error.msg}) in the value that begins at byte {begin},",
        )

    def _broken(self, expected: str, found: str) -> JsonFault:
        what = f", found {found!r}" if found else ""
        if not found and self._ended and self._at >= len(self._text):
            what = ", found the end of the input"
        return JsonFault(self._offset(self._at), expected + what)

    def _next_char(self, skip: re.Pattern[str]) -> str:
        """Move over what ``skip`` matches; return the character there, or "" at the end."""
        while True:
            match = skip.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            self._compact()
            if not self._fill():
                return ""

    def _offset(self, at: int) -> int:
        consumed = self._text[:at].encode("utf-8", "surrogateescape")
        return self._bytes_before + len(consumed)

    def _compact(self) -> None:
        self._bytes_before = self._offset(self._at)
        self._text = self._text[self._at :]
        self._at = 0

    def _fill(self) -> bool:
        """Append input to the window; False where there is no more or the window is full."""
        if self._ended or len(self._text) - self._at > MAX_VALUE_CHARS:
            return False
        # Windows double while a long value is read, which keeps the retries linear overall.
        wanted = max(len(self._text) - self._at, 1)
        parts = [self._text]
        while wanted > 0:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            text = self._decoder.decode(chunk or b"", final=self._ended)
            if not text.isascii():
                self.invalid_bytes += len(_ESCAPED_BYTE.findall(text))
            parts.append(text)
            wanted -= len(text)
            if self._ended:
                break
        self._text = "".join(parts)
        return len(parts[-1]) > 0 or len(parts) > 2 or not self._ended


def read_events(chunks: Callable[[], Iterable[bytes]]) -> EventReader:
    """Return a reader for one pass over the input that ``chunks`` opens."""
    return EventReader(chunks())
