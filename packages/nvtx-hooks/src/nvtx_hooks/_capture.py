# SPDX-License-Identifier: Apache-2.0
"""Whether a CUDA graph is being captured: its replays run no Python and so show no ranges."""

from __future__ import annotations

from collections.abc import Callable

import torch

_BUILT = bool(torch.version.cuda or torch.version.hip)
_in_use: Callable[[], bool] = torch.cuda.is_initialized


def is_capturing() -> bool:
    """Tell whether the current CUDA stream is being captured.

    It asks only where CUDA is in use, so that no context is made; the question itself is one of
    those that a capture allows.
    """
    return _BUILT and _in_use() and torch.cuda.is_current_stream_capturing()
