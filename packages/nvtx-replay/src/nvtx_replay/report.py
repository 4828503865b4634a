# SPDX-License-Identifier: Apache-2.0
"""What a session skipped or repaired, by kind."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

_EXAMPLES = 10


class Report:
    """Counts, by kind of fault, what was skipped and what was repaired in a session.

    A session has one, ``session.report``, shared by all its streams; it may be read and fed from
    any thread. With ``on_error="raise"`` it stays empty, except for ranges left open by a ``with``
    block that an exception ended.

    Examples
    --------
    >>> report = Report()
    >>> report.repair("end_before_begin", 2, "row 7 ends 3 ns before it begins")
    >>> report.lossless, report.repaired["end_before_begin"]
    (True, 2)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._skipped: Counter[str] = Counter()
        self._repaired: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    @property
    def skipped(self) -> Mapping[str, int]:
        """Rows or events that were not written, by kind of fault."""
        return MappingProxyType(self._skipped)

    @property
    def repaired(self) -> Mapping[str, int]:
        """Rows or events that were written with a changed value, by kind of fault."""
        return MappingProxyType(self._repaired)

    @property
    def examples(self) -> Mapping[str, list[str]]:
        """At most ten sentences a kind, the first ones met."""
        return MappingProxyType(self._examples)

    @property
    def lossless(self) -> bool:
        """Whether nothing was skipped."""
        return not self._skipped

    def skip(self, kind: str, count: int, example: str) -> None:
        """Count rows that were not written."""
        self._add(self._skipped, kind, count, example)

    def repair(self, kind: str, count: int, example: str) -> None:
        """Count rows that were written with a changed value."""
        self._add(self._repaired, kind, count, example)

    def _add(self, counts: Counter[str], kind: str, count: int, example: str) -> None:
        if count <= 0:
            return
        with self._lock:
            counts[kind] += count
            known = self._examples.setdefault(kind, [])
            if len(known) < _EXAMPLES:
                known.append(example)

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Return ``{"skipped": {...}, "repaired": {...}}`` with plain values, as for JSON."""
        with self._lock:
            return {"skipped": dict(self._skipped), "repaired": dict(self._repaired)}

    def __bool__(self) -> bool:
        return bool(self._skipped or self._repaired)

    def __str__(self) -> str:
        lines = []
        for verb, counts in self.as_dict().items():
            for kind, count in sorted(counts.items()):
                lines.append(f"{verb} {count} x {kind}: {self._examples[kind][0]}")
        return "\n".join(lines) or "nothing skipped, nothing repaired"
