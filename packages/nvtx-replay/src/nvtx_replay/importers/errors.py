# SPDX-License-Identifier: Apache-2.0
"""What an import refuses outright; everything else is counted in its report."""

from __future__ import annotations

from nvtx_replay.errors import ReplayError

__all__ = ["InputRefusedError"]


class InputRefusedError(ReplayError):
    """The input cannot be imported at all: unreadable, a pipe, or of no known format."""
