# SPDX-License-Identifier: Apache-2.0
"""A trace file as its packets, read through a window.

A mapped file would count as the process's memory, page for page, as the walk goes on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nvtx_replay.cli._protobuf import WireError, varint

PACKET_TAG = 0x0A
_WINDOW_BYTES = 1 << 20
# Tag and length, of ten bytes at most each.
_MAX_HEAD = 20


class PacketReader:
    """Yield every whole packet of a trace; what is kept is a window that holds the largest one.

    Parameters
    ----------
    path : Path
        A Perfetto trace.
    window_bytes : int, optional
        How much is read at a time.

    Attributes
    ----------
    begin : int
        The byte of the file where the packet at hand begins.
    cut : str or None
        Where and why the packets break off, if they do; complete when the iteration ends.
    """

    def __init__(self, path: Path, window_bytes: int = _WINDOW_BYTES) -> None:
        self._path = path
        self._window_bytes = window_bytes
        self.begin = 0
        self.cut: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                yield from self._packets(file, size)
            except WireError as error:
                self.cut = f"{error}, at byte {self.begin}"

    def _packets(self, file: BinaryIO, size: int) -> Iterator[bytes]:
        window, first, at = b"", 0, 0
        while first + at < size:
            self.begin = first + at
            if len(window) - at < _MAX_HEAD and first + len(window) < size:
                window, first, at = self._moved(file, window[at:], _MAX_HEAD), first + at, 0
            if window[at] != PACKET_TAG:
                raise WireError(f"tag {varint(window, at)[0]} instead of a packet")
            length, body = varint(window, at + 1)
            if first + body + length > size:
                raise WireError("a packet ends early")
            while len(window) < body + length:
                body -= at
                window, first, at = self._moved(file, window[at:], body + length), first + at, 0
            at = body + length
            yield window[body:at]

    def _moved(self, file: BinaryIO, kept: bytes, wanted: int) -> bytes:
        """Return what is kept of the window with more behind it, ``wanted`` bytes if there are."""
        read = file.read(max(self._window_bytes, wanted - len(kept)))
        if not read:
            raise WireError("the file became shorter while it was read")
        return kept + read
