# SPDX-License-Identifier: Apache-2.0
"""Sample memory and utilization of a PyTorch process as counters with exact timestamps.

>>> from nvtx_torch_counters import CounterSampler
>>> with CounterSampler(interval=0.01) as sampler:
...     total = sum(range(100_000))
>>> sampler.samples("process memory").unit("rss")
'bytes'

With an NVTX tool attached the counters are also live counters in the domain
``torch.counters``.
"""

from ._cgroup import CgroupMemory
from ._cuda import CudaAllocator, CudaDevices
from ._nvml import NvmlDevices, NvmlProbe
from ._nvml_ring import NvmlUtilizationRing
from ._process import ProcessCpu, ProcessMemory, ProcessObjects
from ._version import __version__
from .defaults import default_probes
from .errors import (
    CountersError,
    IntervalError,
    ProbeError,
    SamplerError,
    SinkError,
    Unavailable,
)
from .peaks import Peak, PeakValue
from .probe import FunctionProbe, LateRow, PeakProbe, Probe, ProbeSource, Stamped, StampedRows
from .report import LaneReport, ProbeReport, Report
from .sampler import CounterSampler
from .samples import Samples
from .table import Column, Table
from .writing import write_samples

__all__ = [
    "CgroupMemory",
    "Column",
    "CounterSampler",
    "CountersError",
    "CudaAllocator",
    "CudaDevices",
    "FunctionProbe",
    "IntervalError",
    "LaneReport",
    "LateRow",
    "NvmlDevices",
    "NvmlProbe",
    "NvmlUtilizationRing",
    "Peak",
    "PeakProbe",
    "PeakValue",
    "Probe",
    "ProbeError",
    "ProbeReport",
    "ProbeSource",
    "ProcessCpu",
    "ProcessMemory",
    "ProcessObjects",
    "Report",
    "SamplerError",
    "Samples",
    "SinkError",
    "Stamped",
    "StampedRows",
    "Table",
    "Unavailable",
    "__version__",
    "default_probes",
    "write_samples",
]
