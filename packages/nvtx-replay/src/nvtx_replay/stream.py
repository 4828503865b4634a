# SPDX-License-Identifier: Apache-2.0
"""Streams: checked events and counter samples, one at a time, in batches or from tables."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from nvtx_replay._tables import Tables
from nvtx_replay.errors import ReplayError


class Stream(Tables):
    """A stream of ``nvtx.writer`` whose data is checked before the backend sees it.

    Made by :meth:`nvtx_replay.Session.stream`. All that ``nvtx.writer.Stream`` offers is here
    under its own name; the object itself is :attr:`raw`, which checks nothing. Calls on one
    stream must not overlap; distinct streams may be written from distinct threads at once.
    """

    @property
    def raw(self) -> Any:
        """The ``nvtx.writer.Stream`` underneath."""
        return self._raw

    @property
    def domain(self) -> Any:
        """The ``nvtx.writer.Domain`` that the stream's events belong to."""
        return self._domain

    @property
    def name(self) -> str:
        """The stream's name, as the session knows it."""
        return self._faults.stream

    def open(self) -> None:
        """Open the stream for writing.

        Raises
        ------
        BackendError
            If the backend refuses; the message holds its reason where it gives one.
        """
        with self._opened.explained():
            self._raw.open()
        self._is_open = True

    def close(self) -> None:
        """Close the stream.

        Raises
        ------
        RowError
            If ranges are open and ``on_error`` is ``"raise"``; the stream is closed all the
            same. ``"repair"`` ends them at the last time that the stream has seen, ``"skip"``
            counts them.
        """
        self._close(self._raw.close, quiet=False)

    def _close(self, close: Callable[[], None], *, quiet: bool) -> None:
        try:
            self.settle(quiet=quiet)
        finally:
            self._is_open = False
            with self._opened.explained():
                close()

    def settle(self, *, quiet: bool = False) -> None:
        """Write what waits in batches, and treat open ranges as ``on_error`` says.

        Closing the stream does it too.

        Parameters
        ----------
        quiet : bool, optional
            Never raise: count instead.
        """
        if not self._is_open:
            return
        self._flush_batches(quiet=quiet)
        count = self._open.count
        if not count:
            return
        told = f"{count} range(s) left open: {self._open.describe()}"
        scopes, ids = self._open.drain()
        if quiet and self._faults.on_error == "raise":
            self._faults.report.skip("range_left_open", count, f"stream {self.name!r}: {told}")
        elif self._faults.rows("range_left_open", told, (), count=count):
            self._end_open(scopes, ids)

    def _flush_batches(self, *, quiet: bool) -> None:
        """Write what waits in batches that nobody closed."""
        for batch in list(self._batches):
            count = batch.waiting
            try:
                batch.close()
            except ReplayError as error:
                if not quiet:
                    raise
                self._faults.report.skip("batch_not_written", count, str(error))

    def __enter__(self) -> Stream:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The raw exit does nothing where the end of the session has closed the stream already.
        self._close(lambda: self._raw.__exit__(kind, error, trace), quiet=error is not None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # before __init__ has run, and for copy and pickle
            raise AttributeError(name)
        return getattr(self._raw, name)
