# SPDX-License-Identifier: Apache-2.0
"""Where ranges go: NVTX, PyTorch's own NVTX calls, or PyTorch's profiler."""

from __future__ import annotations

from functools import cache

from nvtx_hooks._emitters._emitter import Emitter
from nvtx_hooks._emitters._nvtx import NvtxEmitter
from nvtx_hooks._emitters._record import has_numpy
from nvtx_hooks._emitters._record_function import RecordFunctionEmitter
from nvtx_hooks._emitters._torch import TorchEmitter, torch_has_nvtx

EMITTERS = ("nvtx", "record_function", "torch")


@cache
def emitter_for(name: str, domain: str | None) -> Emitter:
    """Give the process's emitter of a name, one for each domain.

    Raises
    ------
    EmitterError
        The emitter cannot work with this build of PyTorch.
    """
    if name == "torch":
        return TorchEmitter()
    if name == "record_function":
        return RecordFunctionEmitter()
    return NvtxEmitter(domain)


__all__ = ["EMITTERS", "Emitter", "emitter_for", "has_numpy", "torch_has_nvtx"]
