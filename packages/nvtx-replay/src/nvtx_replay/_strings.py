# SPDX-License-Identifier: Apache-2.0
"""Texts registered in a domain, each once, and not more than a bound."""

from __future__ import annotations

import threading
from typing import Any

# Backends keep registered strings for a session's life: what never repeats must not go there.
DEFAULT_LIMIT = 65_536


class StringStore:
    """The registered strings of one domain; its streams share it across threads."""

    def __init__(self, domain: Any, limit: int = DEFAULT_LIMIT) -> None:
        self.domain = domain
        self.limit = limit
        self._lock = threading.Lock()
        self._handles: dict[str, int] = {}

    def known(self, text: str) -> int | None:
        """Return the handle of a text that is registered already."""
        return self._handles.get(text)

    def handle(self, text: str) -> int | None:
        """Register a text if there is room for it; return its handle, or None.

        Texts that hold NUL are never registered, since a registered string ends at the first.
        """
        handle = self._handles.get(text)
        if handle is not None:
            return handle
        if "\0" in text:
            return None
        with self._lock:
            if len(self._handles) >= self.limit and text not in self._handles:
                return None
            handle = int(self.domain.get_registered_string(text).handle)
            self._handles[text] = handle
            return handle
