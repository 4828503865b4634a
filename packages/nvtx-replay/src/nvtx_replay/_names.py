# SPDX-License-Identifier: Apache-2.0
"""Names that must differ within a session."""

from __future__ import annotations

from collections.abc import Container


def distinct(name: str, taken: Container[str]) -> str:
    """Return a name, or the first of ``name #2``, ``name #3``, … that is free if it is taken."""
    chosen, number = name, 1
    while chosen in taken:
        number += 1
        chosen = f"{name} #{number}"
    return chosen
