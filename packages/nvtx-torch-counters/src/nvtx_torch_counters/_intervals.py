# SPDX-License-Identifier: Apache-2.0
"""What a sampling interval may be."""

from __future__ import annotations

import math

from .errors import IntervalError

#: A tick costs some 20 to 50 us with its thread switch: below this, sampling is the load.
SMALLEST_S = 0.001


def checked_interval_ns(interval: float) -> int:
    """Return the interval in ns; raise IntervalError where it is no number or too small."""
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        raise IntervalError(f"interval is {interval!r}; expected a number of seconds")
    if not math.isfinite(interval) or interval < SMALLEST_S:
        raise IntervalError(
            f"interval is {interval!r} s; expected at least {SMALLEST_S} s (1 ms), "
            "below which the sampler would be the load that it measures"
        )
    return round(interval * 1e9)
