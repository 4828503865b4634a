# SPDX-License-Identifier: Apache-2.0
"""The utilization samples that the driver takes on its own, at their native rate."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from nvtx import CounterNoValueReason
from nvtx_schema import counter_schema, value

from ._binding import binding, called
from .errors import Unavailable
from .probe import Reading, Stamped, StampedRows

_US = 1000

#: The newest sample is at most this old; a stamp farther away is on another clock.
_NEAR_NS = 60_000_000_000


class NvmlUtilizationRing:
    """GPU utilization as the driver's own ring keeps it, stamped by the driver.

    ``nvmlDeviceGetSamples`` stamps samples with "CPU time in microseconds" and does not say of
    which clock. The newest stamp tells: it lies near real time or near monotonic time, else
    there is a gap with that reason. Read once a second, while the ring holds some seconds.

    Parameters
    ----------
    label : str
        What the device is called, such as ``cuda:0``.
    uuid : str
        The device.
    now : callable, optional
        Returns (real time, monotonic time) in ns; for tests.
    """

    interval: float | None = 1.0

    def __init__(
        self, label: str, uuid: str, now: Callable[[], tuple[int, int]] | None = None
    ) -> None:
        self.name = f"{label} utilization ring"
        self.description = f"NVML's own samples, device {uuid}"
        self.schema = counter_schema({"gpu": value(np.int64, unit="percent", min=0, max=100)})
        self.uuid = uuid
        self._now = now or _clocks
        self._seen_us = 0
        self.open()

    def open(self) -> None:
        """Get a handle by UUID: handles do not survive a fork."""
        self._nvml = binding()
        self._handle = called(self._nvml.nvmlDeviceGetHandleByUUID, self.uuid)

    def read(self) -> Reading:
        """Return the samples that are new since the last read, UNCHANGED where there are none."""
        real, monotonic = self._now()
        kind = self._nvml.NVML_GPU_UTILIZATION_SAMPLES
        try:
            _, samples = called(self._nvml.nvmlDeviceGetSamples, self._handle, kind, self._seen_us)
        except self._nvml.NVMLError as error:
            if error.value == self._nvml.NVML_ERROR_NOT_FOUND:  # none newer than the last seen
                return CounterNoValueReason.UNCHANGED
            raise
        new = sorted(
            (sample.timeStamp, sample.sampleValue.uiVal)
            for sample in samples
            if sample.timeStamp > self._seen_us
        )
        if not new:
            return CounterNoValueReason.UNCHANGED
        newest = new[-1][0]
        shift = _shift(newest * _US, real, monotonic)
        self._seen_us = newest
        return StampedRows(Stamped(us * _US + shift, _US, (percent,)) for us, percent in new)

    def close(self) -> None:
        """Keep NVML: it is reference counted and cheap to keep."""


def _clocks() -> tuple[int, int]:
    return time.time_ns(), time.monotonic_ns()


def _shift(stamp: int, real: int, monotonic: int) -> int:
    """Return what takes the driver's clock, known by its newest stamp, to real time."""
    if abs(stamp - real) < _NEAR_NS:
        return 0
    if abs(stamp - monotonic) < _NEAR_NS:
        return real - monotonic
    raise Unavailable(
        f"the newest sample's stamp, {stamp} ns, is near neither real time ({real}) "
        f"nor monotonic time ({monotonic})"
    )
