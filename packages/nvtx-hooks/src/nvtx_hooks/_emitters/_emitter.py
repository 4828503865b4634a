# SPDX-License-Identifier: Apache-2.0
"""What an emitter does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from nvtx_hooks._phase import Phase


class Emitter(Protocol):
    """Opens and closes ranges of the calling thread.

    Attributes
    ----------
    attached : bool
        False only where it is certain that nothing receives the ranges.
    """

    attached: bool

    def prepare(self, text: str, phase: Phase, payload: Mapping[str, Any] | None = None) -> Any:
        """Make, once, what `push` takes for ranges of this text and phase."""

    def push(self, prepared: Any) -> Any:
        """Open a range; answer None, or what is to be called in place of `pop` to close it."""

    def pop(self) -> Any:
        """Close the innermost range of the calling thread."""
