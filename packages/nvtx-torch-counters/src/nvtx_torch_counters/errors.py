# SPDX-License-Identifier: Apache-2.0
"""Everything that this package raises on purpose."""

from __future__ import annotations


class CountersError(Exception):
    """Root of this package's errors."""


class Unavailable(CountersError):
    """A value cannot be known now; the text says why.

    A probe raises it from ``read`` to leave a gap and to be asked again at the
    next tick, and from ``open`` to stay out of this run.
    """


class ProbeError(CountersError, ValueError):
    """A probe, or what it returned, does not have the promised form."""


class IntervalError(CountersError, ValueError):
    """A sampling interval is not a number of seconds from 0.001 upward."""


class SamplerError(CountersError, RuntimeError):
    """A sampler was used in a state that does not allow it."""


class SinkError(CountersError):
    """Recorded samples cannot be handed over in the form that was asked for."""
