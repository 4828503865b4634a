# SPDX-License-Identifier: Apache-2.0
"""Texts registered in a domain, each once, and not more than a bound."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nvtx_replay.errors import TableError

# Backends keep registered strings for a session's life: what never repeats must not go there.
DEFAULT_LIMIT = 65_536


class StringStore:
    """The registered strings of one domain; its streams share it across threads.

    Room is set aside first (:meth:`admit`), and a text registered only when it is about to be
    written (:meth:`handle`), so that a table that is refused has registered nothing.
    """

    def __init__(self, domain: Any, limit: int = DEFAULT_LIMIT) -> None:
        self.domain = domain
        self.limit = limit
        self._lock = threading.Lock()
        self._admitted: set[str] = set()
        self._seen: set[str] = set()
        self._handles: dict[str, int] = {}

    def admit(self, labels: Sequence[str], wanted: Iterable[bool]) -> list[bool]:
        """Say which of some distinct texts may be registered.

        Those that are ``wanted`` may, and those met in an earlier call, while there is room.
        """
        with self._lock:
            answers = [
                label in self._admitted
                or ((bool(want) or label in self._seen) and self._admit(label))
                for label, want in zip(labels, wanted, strict=True)
            ]
            self._remember(labels)
        return answers

    def admit_all(self, labels: Sequence[str]) -> bool:
        """Say whether all of some distinct texts may be registered."""
        with self._lock:
            new = sum(label not in self._admitted for label in labels)
            if new + len(self._admitted) > self.limit or not registrable(*labels):
                return False
            self._admitted.update(labels)
        return True

    def _admit(self, text: str) -> bool:
        if len(self._admitted) >= self.limit or not registrable(text):
            return False
        self._admitted.add(text)
        return True

    def _remember(self, labels: Sequence[str]) -> None:
        """Keep what was met, within the same bound."""
        if len(self._seen) + len(labels) > self.limit:
            self._seen.clear()
        self._seen.update(labels[: self.limit])

    @property
    def bounded(self) -> BoundedDomain:
        """The domain, for packing by a schema: it registers no more strings than the bound."""
        return BoundedDomain(self)

    def handle(self, text: str) -> int:
        """Return the handle of a text that was admitted, registering it at first."""
        handle = self._handles.get(text)
        if handle is None:
            with self._lock:
                handle = self._handles.get(text)
                if handle is None:
                    handle = int(self.domain.get_registered_string(text).handle)
                    self._handles[text] = handle
        return handle


class BoundedDomain:
    """A domain that refuses to register more strings than its store has room for."""

    def __init__(self, strings: StringStore) -> None:
        self._strings = strings

    def get_registered_string(self, text: str) -> _Handle:
        """Return the registered string of a text."""
        if not self._strings.admit_all([text]):
            raise TableError(
                f"text {text!r:.80} cannot be registered: the domain has {self._strings.limit} "
                "registered strings already, or the text is not valid UTF-8 without NUL. Give "
                "text that rarely repeats a field of fixed width, such as message(64)"
            )
        return _Handle(self._strings.handle(text))

    def get_category_id(self, name: str) -> int:
        """Return the id of a category."""
        return int(self._strings.domain.get_category_id(name))


@dataclass(frozen=True)
class _Handle:
    handle: int


def registrable(*texts: str) -> bool:
    """Say whether texts survive as C strings in UTF-8."""
    joined = "".join(texts)
    if "\0" in joined:
        return False
    try:
        joined.encode()
    except UnicodeEncodeError:
        return False
    return True
