# SPDX-License-Identifier: Apache-2.0
"""What a run of a sampler cost and lost, and why probes have gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ProbeReport:
    """One probe's account.

    Attributes
    ----------
    name : str
        The counter group.
    interval_s : float
        Seconds between two reads.
    reads, gaps : int
        How often it was read, and how many of those reads had no value.
    rows, overwritten : int
        Rows written to the ring, and how many of those newer ones have replaced.
    mean_ns, slowest_ns : int
        What a read took.
    state : str
        ``"running"``, or why it is not.
    reasons : tuple of str
        Every distinct reason for a gap.
    """

    name: str
    interval_s: float
    reads: int
    gaps: int
    rows: int
    overwritten: int
    mean_ns: int
    slowest_ns: int
    state: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class LaneReport:
    """One schedule's account: the probes of one interval share a thread.

    Attributes
    ----------
    name : str
        The thread's name.
    interval_s : float
        Seconds between two ticks.
    ticks, missed : int
        Ticks that ran, and due times that passed while a tick was running or late.
    lateness_ns : mapping of int to int
        Upper bound in ns, at most an eighth too high, to the number of ticks below it and not
        below the bound before.
    latest_ns : int
        The greatest lateness.
    cpu_share : float
        The thread's CPU time as a share of one core.
    """

    name: str
    interval_s: float
    ticks: int
    missed: int
    lateness_ns: Mapping[int, int]
    latest_ns: int
    cpu_share: float

    def lateness_quantile(self, share: float) -> int:
        """Return the bound in ns below which that share of the ticks stayed; 0 without ticks."""
        seen = 0
        for bound, count in sorted(self.lateness_ns.items()):
            seen += count
            if seen >= share * self.ticks:
                return min(bound, self.latest_ns)
        return 0


@dataclass(frozen=True)
class Report:
    """The account of a sampler; ``str()`` is a table, :meth:`to_dict` is for machines.

    Attributes
    ----------
    wall_s : float
        How long the last run has lasted.
    probes, lanes : sequence of ProbeReport, LaneReport
        The accounts of the parts.
    missing : mapping of str to str
        What was looked for and is not measured, and why.
    clock_error_ns, clock_steps, largest_step_ns : int
        How exactly real time was tied to monotonic time, and how often the machine's clock
        was set meanwhile. Timestamps keep the tie of the start.
    """

    wall_s: float
    probes: Sequence[ProbeReport]
    lanes: Sequence[LaneReport]
    missing: Mapping[str, str]
    clock_error_ns: int
    clock_steps: int
    largest_step_ns: int

    @property
    def cpu_share(self) -> float:
        """CPU time of all threads of the sampler as a share of one core."""
        return sum(lane.cpu_share for lane in self.lanes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join([*self._probe_lines(), "", *self._lane_lines(), *self._notes()])

    def _probe_lines(self) -> list[str]:
        lines = [f"{'probe':28} {'every':>9} {'reads':>8} {'gaps':>6} {'ns a read':>10}  state"]
        return lines + [
            f"{p.name:28} {p.interval_s * 1e3:6.0f} ms {p.reads:8} {p.gaps:6} "
            f"{p.mean_ns:10}  {p.state}"
            for p in self.probes
        ]

    def _lane_lines(self) -> list[str]:
        lines = [f"{'schedule':28} {'ticks':>8} {'missed':>7} {'p50 late':>10} {'p99 late':>10}"]
        for lane in self.lanes:
            p50, p99 = (lane.lateness_quantile(q) / 1e3 for q in (0.5, 0.99))
            lines.append(
                f"{lane.name:28} {lane.ticks:8} {lane.missed:7} {p50:7.0f} us {p99:7.0f} us"
            )
        return lines

    def _notes(self) -> list[str]:
        lines = [f"cost: {self.cpu_share:.2%} of a core over {self.wall_s:.1f} s"]
        lines += [f"{what}: {why}" for what, why in self.missing.items()]
        for p in self.probes:
            lines += [f"{p.name}: {why}" for why in p.reasons if why != p.state]
            if p.overwritten:
                lines.append(f"{p.name}: the oldest {p.overwritten} rows were overwritten")
        if self.clock_steps:
            lines.append(
                f"the machine's clock was set {self.clock_steps} times, by up to "
                f"{self.largest_step_ns} ns; timestamps keep the scale of the start"
            )
        return lines
