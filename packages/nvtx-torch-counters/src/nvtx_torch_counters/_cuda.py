# SPDX-License-Identifier: Apache-2.0
"""Probes of CUDA devices that this process uses, joining when it begins to use them.

Only four functions of ``torch.cuda`` are called: ``is_initialized``, ``device_count``,
``get_device_properties`` and ``memory.memory_stats_as_nested_dict``, the last three only once
the application has initialised CUDA. None of them creates a context, works on a stream or is
forbidden while a graph is captured.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from nvtx_schema import counter_schema, value

from ._nvml import NvmlDevice, find_device
from .errors import Unavailable
from .probe import Probe, Reading

_NOT_IN_USE = "CUDA is not in use by this process"

_BYTES = ("allocated", "reserved", "active", "inactive_split")


class CudaAllocator:
    """What PyTorch's CUDA caching allocator holds on one device.

    One ``memory_stats`` read a tick: ``allocated`` (live tensors), ``reserved`` (taken from the
    driver), ``active`` (live or waiting for a stream), ``inactive_split`` (fragments), in
    bytes; ``retries`` and ``ooms`` since the start of the process. It never creates a context:
    until the application has initialised CUDA there is a gap.

    Parameters
    ----------
    device : int
        Index as PyTorch counts devices.
    total : int, optional
        The device's memory in bytes, the upper limit of the counters.
    """

    interval: float | None = None

    def __init__(self, device: int, *, total: int | None = None) -> None:
        self.device = device
        self.name = f"cuda:{device} allocator"
        count = value(np.int64, min=0)
        amount = value(np.int64, unit="bytes", min=0, max=total)
        fields = dict.fromkeys(_BYTES, amount)
        self.schema = counter_schema({**fields, "retries": count, "ooms": count})

    def open(self) -> None:
        """Do nothing: there is nothing to hold."""

    def read(self) -> Reading:
        """Return (allocated, reserved, active, inactive_split, retries, ooms)."""
        stats = self._stats()
        amounts = [stats[f"{field}_bytes"]["all"]["current"] for field in _BYTES]
        return (*amounts, stats["num_alloc_retries"], stats["num_ooms"])

    def read_peaks(self) -> Mapping[str, int]:
        """Return the process's peaks, which the user may reset, and which this does not."""
        stats = self._stats()
        return {field: stats[f"{field}_bytes"]["all"]["peak"] for field in _BYTES}

    def used(self) -> bool:
        """Return whether the allocator ever took memory of this device."""
        return bool(self._stats()["reserved_bytes"]["all"]["peak"])

    def close(self) -> None:
        """Do nothing."""

    def _stats(self) -> Mapping[str, Any]:
        torch = torch_in_use()
        stats: Mapping[str, Any] = (
            torch.cuda.memory.memory_stats_as_nested_dict(self.device) if torch else {}
        )
        if not stats:  # what torch returns while CUDA is not initialised
            raise Unavailable(_NOT_IN_USE)
        return stats


class CudaDevices:
    """Finds the CUDA devices that this process uses, as it begins to use them.

    A device counts as used once PyTorch's allocator has taken memory of it. It then gets a
    :class:`CudaAllocator` and, where NVML answers, NVML's probes, found by the UUID that CUDA
    itself reports, so that no setting of ``CUDA_VISIBLE_DEVICES`` can mix devices up.

    Parameters
    ----------
    nvml : bool
        Whether to look for NVML's counters too.
    """

    def __init__(self, *, nvml: bool = True) -> None:
        self.name = "cuda"
        self.reasons: Mapping[str, str] = {"cuda": _NOT_IN_USE}
        self._nvml = nvml
        self._missing: dict[str, str] = {}
        self._joined: set[int] = set()

    def discover(self) -> Sequence[Probe]:
        """Return the probes of devices that came into use since the last call."""
        torch = torch_in_use()
        if torch is None:
            why = _NOT_IN_USE if _built_with_cuda() else "this build of PyTorch has no CUDA"
            self.reasons = self._missing if self._joined else {"cuda": why}
            return ()
        probes: list[Probe] = []
        for device in range(torch.cuda.device_count()):
            if device not in self._joined:
                probes += self._probes_of(torch, device)
        self.reasons = dict(self._missing)
        return probes

    def _probes_of(self, torch: ModuleType, device: int) -> list[Probe]:
        properties = torch.cuda.get_device_properties(device)
        allocator = CudaAllocator(device, total=properties.total_memory)
        probes: list[Probe] = []
        try:
            if not allocator.used():
                return []
            probes.append(allocator)
        except (RuntimeError, KeyError) as error:  # an allocator plugged in without statistics
            self._missing[allocator.name] = f"the allocator has no statistics ({error})"
        self._joined.add(device)
        return [*probes, *self._nvml_probes(device, getattr(properties, "uuid", None))]

    def _nvml_probes(self, device: int, uuid: object) -> Sequence[Probe]:
        if not self._nvml:
            return ()
        label = f"cuda:{device}"
        try:
            found: NvmlDevice = find_device(device, None if uuid is None else str(uuid))
            return found.probes(label, self._missing)
        except Unavailable as error:
            self._missing[f"{label} through NVML"] = str(error)
            return ()


def torch_in_use() -> ModuleType | None:
    """Return torch if the application has initialised CUDA through it, without importing it."""
    torch = sys.modules.get("torch")
    # Another thread may be in the middle of importing it: then its parts are not there yet.
    asked = getattr(getattr(torch, "cuda", None), "is_initialized", None)
    return torch if asked is not None and asked() else None


def _built_with_cuda() -> bool:
    version = getattr(sys.modules.get("torch"), "version", None)
    return version is None or version.cuda is not None or version.hip is not None
