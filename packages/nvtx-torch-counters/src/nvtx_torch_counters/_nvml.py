# SPDX-License-Identifier: Apache-2.0
"""Probes of one NVIDIA device through NVML, found by UUID."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from nvtx_schema import Schema, counter_schema, value

from ._binding import NOT_AVAILABLE, binding, called
from ._nvml_ring import NvmlUtilizationRing
from ._series import text_of
from ._visible import Board, visible_uuids
from .errors import Unavailable
from .probe import Probe, Reading

#: The driver refreshes most of these some 6 to 10 times a second; some calls take a
#: driver-wide lock for milliseconds.
_INTERVAL = 0.1

#: NVML measures PCIe traffic over 20 ms inside the call.
_PCIE_INTERVAL = 1.0

_MEGA = 1_000_000


@dataclass(frozen=True)
class _Group:
    """One NVML call as a counter group: calls that can fail apart are groups of their own."""

    name: str
    read: Callable[[ModuleType, Any], Reading]
    schema: Callable[[ModuleType, Any], Schema]
    interval: float = _INTERVAL


class NvmlProbe:
    """One counter group of one device, read through a handle that is kept.

    Made by :class:`NvmlDevices` and, for devices that PyTorch uses, by :class:`CudaDevices`.
    No call lists processes.
    """

    def __init__(self, label: str, uuid: str, group: _Group) -> None:
        self.name = f"{label} {group.name}"
        self.description = f"NVML, device {uuid}"
        self.interval: float | None = group.interval
        self.uuid = uuid
        self._group = group
        self.open()
        self.schema = group.schema(self._nvml, self._handle)

    def open(self) -> None:
        """Get a handle by UUID: handles do not survive a fork."""
        self._nvml = binding()
        self._handle = called(self._nvml.nvmlDeviceGetHandleByUUID, self.uuid)

    def read(self) -> Reading:
        """Return the group's values."""
        return self._group.read(self._nvml, self._handle)

    def close(self) -> None:
        """Keep NVML: it is reference counted and cheap to keep."""


@dataclass(frozen=True)
class NvmlDevice:
    """A device that NVML knows."""

    uuid: str

    def probes(self, label: str, missing: dict[str, str], *, ring: bool = False) -> list[Probe]:
        """Return the probes that answer; put into `missing` why others do not.

        Each is asked once here, so that an unsupported counter never becomes a track.
        """
        makers: dict[str, Callable[[], Probe]] = {
            group.name: lambda group=group: NvmlProbe(label, self.uuid, group)  # type: ignore[misc]
            for group in _GROUPS
        }
        if ring:
            makers["utilization ring"] = lambda: NvmlUtilizationRing(label, self.uuid)
        probes: list[Probe] = []
        for name, make in makers.items():
            answer = _asked(make)
            if isinstance(answer, str):
                missing[f"{label} {name}"] = answer
            else:
                probes.append(answer)
        return probes


def _asked(make: Callable[[], Probe]) -> Probe | str:
    """Return a probe that has answered once, or why there is none."""
    try:
        probe = make()
        probe.read()
    except Exception as error:  # noqa: BLE001 - the binding raises a class per code
        return text_of(error)
    return probe


class NvmlDevices:
    """Finds the devices that ``CUDA_VISIBLE_DEVICES`` shows, through NVML, without CUDA.

    Devices are labelled ``cuda:0``, ``cuda:1``, ... in CUDA's order. For processes that do not
    compute through PyTorch, or to watch idle devices; :func:`default_probes` instead waits for
    the devices that PyTorch uses.

    Parameters
    ----------
    environ : mapping, optional
        The environment to go by; the process's by default.
    ring : bool
        Add the utilization samples that the driver keeps on its own, at their native rate.
    """

    def __init__(self, environ: Mapping[str, str] | None = None, *, ring: bool = False) -> None:
        self.name = "nvml"
        self.reasons: Mapping[str, str] = {}
        self._environ = os.environ if environ is None else environ
        self._ring = ring
        self._done = False

    def discover(self) -> Sequence[Probe]:
        """Return the probes of all visible devices, at the first call."""
        if self._done:
            return ()
        self._done = True
        missing: dict[str, str] = {}
        self.reasons = missing
        probes: list[Probe] = []
        try:
            for index, uuid in enumerate(visible_uuids(boards(binding()), self._environ)):
                probes += NvmlDevice(uuid).probes(f"cuda:{index}", missing, ring=self._ring)
        except Unavailable as error:
            missing["nvml"] = str(error)
        if not probes and not missing:
            missing["nvml"] = "CUDA_VISIBLE_DEVICES shows no device that NVML knows"
        return probes


def find_device(index: int, uuid: str | None) -> NvmlDevice:
    """Return the device that CUDA calls `index`, by the UUID that CUDA reports where it does.

    Raises
    ------
    Unavailable
        If there is no NVML or it does not know the device.
    """
    nvml = binding()
    if uuid is None:  # PyTorch built without device UUIDs
        uuids = visible_uuids(boards(nvml), os.environ)
        if index >= len(uuids):
            raise Unavailable(f"CUDA_VISIBLE_DEVICES shows {len(uuids)} devices to NVML")
        return NvmlDevice(uuids[index])
    bare = uuid.removeprefix("GPU-").removeprefix("MIG-")
    for candidate in (f"GPU-{bare}", f"MIG-{bare}"):
        if _knows(nvml, candidate):
            return NvmlDevice(candidate)
    raise Unavailable(f"NVML knows no device with the UUID {uuid} that CUDA reports")


def _knows(nvml: ModuleType, uuid: str) -> bool:
    try:
        nvml.nvmlDeviceGetHandleByUUID(uuid)
    except nvml.NVMLError:
        return False
    return True


def boards(nvml: ModuleType) -> list[Board]:
    """List the boards in NVML's order, with their MIG devices."""
    found = []
    for index in range(called(nvml.nvmlDeviceGetCount)):
        handle = called(nvml.nvmlDeviceGetHandleByIndex, index)
        mig = _in_mig_mode(nvml, handle)
        found.append(
            Board(
                uuid=called(nvml.nvmlDeviceGetUUID, handle),
                model=called(nvml.nvmlDeviceGetName, handle),
                instances=tuple(_instances(nvml, handle)) if mig else (),
                mig=mig,
            )
        )
    return found


def _in_mig_mode(nvml: ModuleType, handle: Any) -> bool:
    try:
        return bool(nvml.nvmlDeviceGetMigMode(handle)[0])
    except nvml.NVMLError:  # "not supported" on boards without MIG
        return False


def _instances(nvml: ModuleType, handle: Any) -> list[str]:
    uuids = []
    for index in range(called(nvml.nvmlDeviceGetMaxMigDeviceCount, handle)):
        try:
            instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except nvml.NVMLError:  # "not found": the slot is free
            continue
        uuids.append(called(nvml.nvmlDeviceGetUUID, instance))
    return uuids


def _known(number: int) -> int:
    if number in NOT_AVAILABLE:
        raise Unavailable("NVML has no value")
    return number


def _utilization(nvml: ModuleType, handle: Any) -> Reading:
    rates = called(nvml.nvmlDeviceGetUtilizationRates, handle)
    return _known(rates.gpu), _known(rates.memory)


def _memory(nvml: ModuleType, handle: Any) -> Reading:
    memory = called(nvml.nvmlDeviceGetMemoryInfo, handle)
    if not memory.total or memory.total in NOT_AVAILABLE:
        raise Unavailable("NVML reports no device memory: it is unified with the system's")
    return memory.used, memory.free


def _memory_schema(nvml: ModuleType, handle: Any) -> Schema:
    total = called(nvml.nvmlDeviceGetMemoryInfo, handle).total
    amount = value(np.int64, unit="bytes", min=0, max=total if 0 < total < 2**63 else None)
    return counter_schema({"used": amount, "free": amount})


def _limit(function: Callable[..., int], *arguments: Any) -> int | None:
    """Return a limit, None where the device does not tell it: it only shapes an axis."""
    try:
        limit = function(*arguments)
    except Exception:  # noqa: BLE001 - the binding raises a class per code
        return None
    return None if limit in NOT_AVAILABLE else limit


def _power_schema(nvml: ModuleType, handle: Any) -> Schema:
    limit = _limit(nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
    most = None if limit is None else limit / 1e3
    return counter_schema({"draw": value(np.float64, unit="watts", min=0.0, max=most)})


def _clock(name: str, kind: str) -> _Group:
    def read(nvml: ModuleType, handle: Any) -> Reading:
        return (_known(called(nvml.nvmlDeviceGetClockInfo, handle, getattr(nvml, kind))) * _MEGA,)

    def schema(nvml: ModuleType, handle: Any) -> Schema:
        limit = _limit(nvml.nvmlDeviceGetMaxClockInfo, handle, getattr(nvml, kind))
        most = None if limit is None else limit * _MEGA
        return counter_schema({"frequency": value(np.int64, unit="hertz", min=0, max=most)})

    return _Group(name, read, schema)


def _pcie(name: str, kind: str) -> _Group:
    def read(nvml: ModuleType, handle: Any) -> Reading:
        rate = called(nvml.nvmlDeviceGetPcieThroughput, handle, getattr(nvml, kind))
        return (_known(rate) * 1000,)  # NVML counts in KB/s

    rate = counter_schema({"rate": value(np.int64, unit="bytes/s", min=0)})
    return _Group(name, read, lambda nvml, handle: rate, _PCIE_INTERVAL)


_PERCENT = value(np.int64, unit="percent", min=0, max=100)

_GROUPS = (
    _Group(
        "utilization",
        _utilization,
        lambda nvml, handle: counter_schema({"gpu": _PERCENT, "memory": _PERCENT}),
    ),
    _Group("memory", _memory, _memory_schema),
    _Group(
        "power",
        lambda nvml, handle: (_known(called(nvml.nvmlDeviceGetPowerUsage, handle)) / 1e3,),
        _power_schema,
    ),
    _Group(
        "temperature",
        lambda nvml, handle: (
            _known(called(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU)),
        ),
        lambda nvml, handle: counter_schema({"gpu": value(np.int64, unit="celsius")}),
    ),
    _clock("sm clock", "NVML_CLOCK_SM"),
    _clock("memory clock", "NVML_CLOCK_MEM"),
    _pcie("pcie sent", "NVML_PCIE_UTIL_TX_BYTES"),
    _pcie("pcie received", "NVML_PCIE_UTIL_RX_BYTES"),
)
