# SPDX-License-Identifier: Apache-2.0
"""Which probes fit this machine and process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ._cgroup import CgroupMemory
from ._cuda import CudaDevices
from ._process import ProcessCpu, ProcessMemory, ProcessObjects
from .errors import Unavailable
from .probe import Probe, ProbeSource

Choice: TypeAlias = "tuple[list[Probe | ProbeSource], Mapping[str, str]]"


def chosen_probes() -> Choice:
    """Return the default probes, and by name why each was or was not taken."""
    probes: list[Probe | ProbeSource] = []
    why: dict[str, str] = {}
    probes += [ProcessMemory(), ProcessCpu(), ProcessObjects()]
    why.update({probe.name: "every process has it" for probe in probes})
    try:
        group = CgroupMemory()
    except Unavailable as error:
        why[CgroupMemory.name] = f"not taken: {error}"
    else:
        probes.append(group)
        why[group.name] = f"the group is limited to {group.limit} bytes"
    probes.append(CudaDevices())
    why["cuda"] = "devices join when the process begins to use them"
    return probes, why


def default_probes() -> list[Probe | ProbeSource]:
    """Return what :class:`CounterSampler` reads by default.

    The process's memory at the sampler's interval; its CPU, threads and open files, and the
    memory of a limited control group, once a second; and, from when the process uses CUDA
    devices, their allocator statistics and NVML counters. ``python -m nvtx_torch_counters``
    prints the choice with its reasons.
    """
    return chosen_probes()[0]
