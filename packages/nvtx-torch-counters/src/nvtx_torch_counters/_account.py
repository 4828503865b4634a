# SPDX-License-Identifier: Apache-2.0
"""Making the report from the counts that series and lanes keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._clock import RealtimeTie
from ._lane import Lane
from ._series import Series
from .report import LaneReport, ProbeReport, Report


def report_of(
    series: Sequence[Series],
    lanes: Sequence[Lane],
    missing: Mapping[str, str],
    spans: tuple[int, int],
    tie: RealtimeTie,
) -> Report:
    """Return the report; `spans` are the run's length and the sampler's interval in ns."""
    wall_ns, interval_ns = spans
    return Report(
        wall_s=wall_ns / 1e9,
        probes=[_probe_report(one, interval_ns) for one in series],
        lanes=[_lane_report(lane, wall_ns) for lane in lanes],
        missing=dict(missing),
        clock_error_ns=tie.error_ns,
        clock_steps=tie.steps,
        largest_step_ns=tie.largest_step_ns,
    )


def _probe_report(series: Series, interval_ns: int) -> ProbeReport:
    series.settle()
    own = series.probe.interval
    return ProbeReport(
        name=series.name,
        interval_s=interval_ns / 1e9 if own is None else own,
        reads=series.reads,
        gaps=series.gaps,
        rows=series.ring.written,
        overwritten=series.ring.overwritten,
        mean_ns=series.read_ns // max(1, series.reads),
        slowest_ns=series.slowest_ns,
        state=series.stopped or "running",
        reasons=tuple(series.reasons.texts[1:]),
    )


def _lane_report(lane: Lane, wall_ns: int) -> LaneReport:
    return LaneReport(
        name=lane.name,
        interval_s=lane.interval_ns / 1e9,
        ticks=lane.ticks,
        missed=lane.missed,
        lateness_ns=lane.lateness.counts(),
        latest_ns=lane.lateness.latest_ns,
        cpu_share=lane.cpu_ns / wall_ns if wall_ns else 0.0,
    )
