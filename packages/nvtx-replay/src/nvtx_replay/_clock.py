# SPDX-License-Identifier: Apache-2.0
"""Time domains by name, and timestamps as exact integers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import nvtx

from nvtx_replay._faults import Faults
from nvtx_replay.errors import ConfigError

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

_NAMES = {
    "none": nvtx.TimestampType.NONE,
    "realtime": nvtx.TimestampType.CPU_CLOCK_GETTIME_REALTIME,
    "monotonic": nvtx.TimestampType.CPU_CLOCK_GETTIME_MONOTONIC,
    "monotonic_raw": nvtx.TimestampType.CPU_CLOCK_GETTIME_MONOTONIC_RAW,
    "boottime": nvtx.TimestampType.CPU_CLOCK_GETTIME_BOOTTIME,
}


def time_domain_id(value: Any) -> Any:
    """Return what ``nvtx.writer`` takes as ``time_domain_id`` for a name, a type or an id."""
    if isinstance(value, str):
        if value not in _NAMES:
            names = ", ".join(repr(name) for name in _NAMES)
            raise ConfigError(
                f"time_domain is {value!r}; expected {names}, an nvtx.TimestampType or an id"
            )
        return _NAMES[value]
    if isinstance(value, nvtx.TimestampType) or type(value) is int:
        return value
    raise ConfigError(
        f"time_domain is of type {type(value).__name__}; expected a name such as 'realtime', "
        "an nvtx.TimestampType or an id"
    )


def counts_from_epoch(time_domain: Any) -> bool:
    """Say whether a time domain's timestamps are nanoseconds since the Unix epoch."""
    return time_domain in (_NAMES["realtime"], _NAMES["realtime"].value)


def exact_time(value: Any, faults: Faults) -> int | None:
    """Return one timestamp as an int64 value, or None if its event is to be skipped."""
    if type(value) is int:
        time = value
    elif isinstance(value, (float, np.floating)):
        repaired = _from_float(value, faults)
        if repaired is None:
            return None
        time = repaired
    else:
        time = _from_index(value)
    if INT64_MIN <= time <= INT64_MAX:
        return time
    faults.event(
        "timestamp_out_of_range",
        f"timestamp {time} does not fit in a signed 64-bit integer",
        repairable=False,
    )
    return None


def _from_float(value: float | np.floating[Any], faults: Faults) -> int | None:
    if not math.isfinite(value):
        faults.event("missing_timestamp", f"timestamp is {value}", repairable=False)
        return None
    sentence = f"timestamp {value!r} is a float; expected integer nanoseconds"
    return round(float(value)) if faults.event("float_timestamp", sentence) else None


def _from_index(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"timestamp is of type {type(value).__name__}; expected an integer of nanoseconds"
        ) from None
