# SPDX-License-Identifier: Apache-2.0
"""The phases of a module's work; each has a category and a color of its own."""

from __future__ import annotations

import enum


class Phase(enum.Enum):
    """What a range shows; the value is the name of its NVTX category."""

    FORWARD = "forward"
    BACKWARD = "backward"
    RECOMPUTE = "recompute"

    @property
    def color(self) -> int:
        """ARGB; blue, orange and green that color-blind people tell apart (Okabe and Ito)."""
        return _COLORS[self]


_COLORS = {
    Phase.FORWARD: 0xFF0072B2,
    Phase.BACKWARD: 0xFFE69F00,
    Phase.RECOMPUTE: 0xFF009E73,
}
