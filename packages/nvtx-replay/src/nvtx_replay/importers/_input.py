# SPDX-License-Identifier: Apache-2.0
"""Input files as a series of decompressed byte chunks."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nvtx_replay.importers.errors import InputRefusedError

if TYPE_CHECKING:
    from zlib import _Decompress as _Decompressor

CHUNK_BYTES = 1 << 18
_MAX_INFLATED = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
# RFC 1952 members, with zlib's header detection switched to gzip only.
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


@dataclass
class InputFile:
    """A regular file that may be read more than once, gzip or not by its content.

    Parameters
    ----------
    path : Path
        The file. Pipes and devices are refused, because an import reads its input twice.
    progress : callable, optional
        Called with the number of bytes just read from the disk.

    Attributes
    ----------
    fault : str or None
        Why the last pass ended before the end of the compressed data, if it did.
    """

    path: Path
    progress: Callable[[int], None] | None = None
    fault: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        try:
            status = self.path.stat()
        except OSError as error:
            raise InputRefusedError(f"{self.path}: {error.strerror or error}") from error
        if not stat.S_ISREG(status.st_mode):
            raise InputRefusedError(
                f"{self.path} is not a regular file; an import reads its input twice, so save a "
                "pipe's data to a file first and convert that"
            )
        self.size = status.st_size

    def head(self, size: int = 4_096) -> bytes:
        """Return the first decompressed bytes, at most ``size``."""
        first = b""
        for chunk in self._decompressed(lambda _: None):
            first += chunk
            if len(first) >= size:
                break
        return first[:size]

    def chunks(self) -> Iterator[bytes]:
        """Yield the decompressed content from its begin; sets ``fault`` where it breaks off."""
        return self._decompressed(self.progress or (lambda _: None))

    def _decompressed(self, progress: Callable[[int], None]) -> Iterator[bytes]:
        self.fault = None
        with self.path.open("rb") as file:
            is_gzip = file.read(2) == _GZIP_MAGIC
            file.seek(0)
            raw = iter(lambda: file.read(CHUNK_BYTES), b"")
            yield from self._inflate(raw, progress) if is_gzip else _counted(raw, progress)

    def _inflate(self, raw: Iterator[bytes], progress: Callable[[int], None]) -> Iterator[bytes]:
        member = zlib.decompressobj(_GZIP_WINDOW)
        seen = 0
        for block in _counted(raw, progress):
            seen += len(block)
            pending = block
            while pending:
                if member.eof:
                    if not pending.startswith(_GZIP_MAGIC[:1]):
                        break  # padding after the last member, as tape and block tools leave it
                    member = zlib.decompressobj(_GZIP_WINDOW)
                before = member.copy()
                try:
                    chunk = member.decompress(pending, _MAX_INFLATED)
                except zlib.error as error:
                    self.fault = f"gzip data is corrupt near compressed byte {seen}: {error}"
                    yield from _until_error(before, pending)
                    return
                pending = member.unused_data if member.eof else member.unconsumed_tail
                if chunk:
                    yield chunk
        if not member.eof:
            self.fault = f"gzip data ends early, at compressed byte {seen}"


def _until_error(member: _Decompressor, data: bytes) -> Iterator[bytes]:
    """Yield what a failing decompression gave before it failed, which zlib itself drops."""
    with suppress(zlib.error):
        for at in range(len(data)):
            yield member.decompress(data[at : at + 1])


def _counted(raw: Iterator[bytes], progress: Callable[[int], None]) -> Iterator[bytes]:
    for block in raw:
        progress(len(block))
        yield block
