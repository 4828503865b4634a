# SPDX-License-Identifier: Apache-2.0
"""The memory of this process as Linux counts it, read without a thread switch."""

from __future__ import annotations

import ctypes
import os

from .probe import LateRow

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0

#: Seven numbers of up to 20 digits fit; the buffer's last byte stays 0.
_ROOM = 160


class Statm:
    """``/proc/self/statm``, open: fields 2 and 3 of proc_pid_statm(5), in bytes.

    A read is one pread(2) that keeps the interpreter lock, as calls of ``PyDLL`` do, with
    arguments that are made once: a tick finds the caches cold, and converting them would touch
    more memory than the call.
    """

    def __init__(self) -> None:
        self.file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._text = ctypes.create_string_buffer(_ROOM)
        self._pread = ctypes.PyDLL(None).pread
        self._pread.restype = ctypes.c_ssize_t
        self._arguments = (
            ctypes.c_int(self.file),
            self._text,
            ctypes.c_size_t(_ROOM - 1),
            ctypes.c_long(0),
        )

    def read(self) -> StatmRow:
        """Return the numbers of now."""
        if self._pread(*self._arguments) <= 0:
            raise OSError("/proc/self/statm cannot be read any more")
        return StatmRow(self._text.value)

    def close(self) -> None:
        """Close the file."""
        os.close(self.file)


class StatmRow(LateRow):
    """(resident, shared) in bytes, from the file's text."""

    def values(self) -> tuple[int, int]:
        """Return both."""
        _, resident, shared, _ = self.raw.split(None, 3)
        return int(resident) * _PAGE, int(shared) * _PAGE
