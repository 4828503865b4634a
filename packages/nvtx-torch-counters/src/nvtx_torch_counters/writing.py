# SPDX-License-Identifier: Apache-2.0
"""Writing recorded samples to an nvtx.writer stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .errors import SinkError
from .samples import Samples


def write_samples(
    stream: Any, groups: Iterable[Samples], *, domain: Any = None, clock: str = "realtime"
) -> int:
    """Write groups of samples as counters; return the number of rows.

    Stretches with values go as sorted batches. A row without values goes as what it is:
    ``UNAVAILABLE``, ``UNCHANGED`` or ``ZERO``, at its own time.

    Parameters
    ----------
    stream : nvtx.writer.Stream
        Open, in the time domain of `clock`.
    groups : iterable of Samples
        What to write.
    domain : nvtx.writer.Domain, optional
        The stream's domain; by default its ``domain`` attribute.
    clock : {"realtime", "monotonic"}
        Which stamps to write.

    Raises
    ------
    SinkError
        If the domain is missing or `clock` is neither.
    """
    if clock not in ("realtime", "monotonic"):
        raise SinkError(f"clock is {clock!r}; expected 'realtime' or 'monotonic'")
    domain = getattr(stream, "domain", None) if domain is None else domain
    if domain is None:
        raise SinkError(
            "a stream of nvtx.writer does not show its domain; pass the one it was created "
            "with: write_to(stream, domain=session.get_domain(...))"
        )
    written = 0
    for group in groups:
        counter = domain.get_counter(group.name, group.schema.dtype)
        times = group.time if clock == "realtime" else group.monotonic
        for reason, rows in group.runs():
            if reason is None:
                stream.write_counter_batch(counter, group.packed(rows), timestamps=times[rows])
            else:
                stream.write_counter_sample_no_value(counter, int(times[rows][0]), reason)
        written += len(group)
    return written
