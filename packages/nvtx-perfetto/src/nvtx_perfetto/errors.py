# SPDX-License-Identifier: Apache-2.0
"""The errors this package raises."""


class PerfettoError(Exception):
    """The root of all errors that nvtx_perfetto raises."""


class LibraryNotFoundError(PerfettoError):
    """The native library is not where the wheel puts it, or cannot be loaded."""


class RecordingError(PerfettoError):
    """Live recording cannot start, or what was recorded cannot be written."""


class JoinError(PerfettoError):
    """Traces cannot be joined."""
