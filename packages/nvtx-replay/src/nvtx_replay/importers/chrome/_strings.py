# SPDX-License-Identifier: Apache-2.0
"""Repeated texts as registered strings; texts met once stay texts."""

from __future__ import annotations

from typing import Any

from nvtx_replay.importers.chrome._text import clean

MAX_STRINGS = 65_536
MAX_CHARS = 32 << 20


class RepeatedStrings:
    """Register a text when it is met for the second time, up to a bound.

    Registered strings live as long as the session, so texts that never repeat must not fill the
    bound; they travel in fixed-width fields of their rows instead.

    Attributes
    ----------
    handles : dict
        What is registered already, for fast look-up.
    """

    def __init__(self, domain: Any, limit: int = MAX_STRINGS, chars: int = MAX_CHARS) -> None:
        self._domain = domain
        self._limit = limit
        self._chars = chars
        self.handles: dict[str, int] = {}
        self._met_once: set[int] = set()

    def handle(self, text: str) -> int | None:
        """Return the handle of a text, or None if it has to travel as text."""
        handle = self.handles.get(text)
        return self._admitted(text) if handle is None else handle

    def _admitted(self, text: str) -> int | None:
        if len(self.handles) >= self._limit or len(text) > self._chars or clean(text) != text:
            return None
        # Hashes suffice: a collision only registers a text one time too early.
        key = hash(text)
        if key not in self._met_once:
            if len(self._met_once) >= self._limit:
                self._met_once.clear()
            self._met_once.add(key)
            return None
        self._chars -= len(text)
        handle = int(self._domain.get_registered_string(text).handle)
        self.handles[text] = handle
        return handle
