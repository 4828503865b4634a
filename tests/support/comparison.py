# SPDX-License-Identifier: Apache-2.0
"""Whole rows, compared as multisets, with a message that shows both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_SHOWN = 10


def differences(found: Iterable[object], expected: Iterable[object]) -> list[str]:
    """Name rows that only one side has, at most ten a side; empty when both are equal."""
    have, want = Counter(found), Counter(expected)
    missing = [f"missing: {row!r}" for row in (want - have).elements()]
    surplus = [f"unexpected: {row!r}" for row in (have - want).elements()]
    return missing[:_SHOWN] + surplus[:_SHOWN]
