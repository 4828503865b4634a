# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as exceptions that say what was found, expected and what to do.

Every exception raised on purpose by this package derives from :class:`ReplayError`. Errors of
:mod:`nvtx.writer` that are no concern of a session's start, end or data pass through unchanged.
"""

from __future__ import annotations

__all__ = [
    "BackendError",
    "BackendNotFoundError",
    "ConfigError",
    "ReplayError",
    "RowError",
    "StreamError",
    "TableError",
]


class ReplayError(Exception):
    """The root of every exception that this package raises on purpose."""


class BackendNotFoundError(ReplayError):
    """No writer backend could be found or loaded; the message lists all that was tried."""


class BackendError(ReplayError):
    """The backend refused or failed an operation.

    Parameters
    ----------
    operation : str
        The backend's entry point that failed, such as ``"SessionBegin"``.
    detail : str
        The backend's own words where it has any, else the meaning of its result code.
    result_code : int
        The ``NVTXW_RESULT_*`` code.
    """

    def __init__(self, operation: str, detail: str, result_code: int) -> None:
        super().__init__(f"{operation} failed: {detail}")
        self.operation = operation
        self.detail = detail
        self.result_code = result_code


class ConfigError(ReplayError, ValueError):
    """An option of a session or stream has a value that cannot be used."""


class StreamError(ReplayError):
    """A stream is used in a way that would make its contents ambiguous."""


class TableError(ReplayError, ValueError):
    """A table lacks a column, or a column cannot hold what it should hold."""


class RowError(ReplayError, ValueError):
    """Rows or single events hold values that a timeline cannot show as they stand.

    Parameters
    ----------
    kind : str
        The kind of fault, as counted by :class:`~nvtx_replay.Report`.
    message : str
        What was found and what to do.
    rows : tuple of int, optional
        The first row numbers concerned, from 0 in the table or batch; empty for single events.
    """

    def __init__(self, kind: str, message: str, rows: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.rows = rows
