# SPDX-License-Identifier: Apache-2.0
"""Ranges by torch.cuda.nvtx, in NVTX's default domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from nvtx_hooks._phase import Phase
from nvtx_hooks.errors import EmitterError


class TorchEmitter:
    """Push/pop ranges of a name alone: these calls know neither category nor payload.

    Raises
    ------
    EmitterError
        This build of PyTorch has no NVTX; every call would raise.
    """

    # PyTorch's copy of NVTX does not tell whether a tool is attached.
    attached = True

    def __init__(self) -> None:
        if not torch_has_nvtx():
            raise EmitterError(
                f"PyTorch {torch.__version__} was built without NVTX, so torch.cuda.nvtx cannot "
                "record; use emitter='nvtx', or emitter='record_function' for torch.profiler"
            )
        self._push: Callable[[str], Any] = torch.cuda.nvtx.range_push
        self._pop: Callable[[], Any] = torch.cuda.nvtx.range_pop

    def prepare(self, text: str, phase: Phase, payload: Mapping[str, Any] | None = None) -> Any:
        """Take the text; the rest has no place in these calls."""
        del phase, payload
        return text

    def push(self, prepared: str) -> None:
        """Open a range in the calling thread; the depth that PyTorch answers is ignored."""
        self._push(prepared)

    def pop(self) -> None:
        """Close the innermost range of the default domain in the calling thread."""
        self._pop()


def torch_has_nvtx() -> bool:
    """Tell whether PyTorch's own NVTX calls work: in builds with CUDA or ROCm."""
    return bool(torch.version.cuda or torch.version.hip)
