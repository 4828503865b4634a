# SPDX-License-Identifier: Apache-2.0
"""``python -m nvtx_torch_counters``: what would be sampled here, and why."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence

from ._nvml import NvmlDevices
from .defaults import chosen_probes
from .probe import Probe, ProbeSource


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each counter group with its unit, interval and reason; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m nvtx_torch_counters",
        description="Show which counters can be sampled here, and why others cannot.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    chosen, why = chosen_probes()
    devices = NvmlDevices()
    probes = [probe for probe in chosen if not isinstance(probe, ProbeSource)]
    found = [*probes, *devices.discover()]
    missing = {**devices.reasons}
    notes = {name: text for name, text in why.items() if name not in {p.name for p in probes}}
    if options.json:
        rows = [_described(probe, why) for probe in found]
        print(json.dumps({"counters": rows, "notes": notes, "missing": missing}, indent=2))
        return 0
    for probe in found:
        row = _described(probe, why)
        print(f"{row['name']:28} {row['every']:>16}  {row['fields']}  ({row['why']})")
    for name, text in {**notes, **missing}.items():
        print(f"{name:28} {text}")
    return 0


def _described(probe: Probe, why: Mapping[str, str]) -> dict[str, str]:
    every = "sampler's tick" if probe.interval is None else f"{probe.interval * 1e3:g} ms"
    fields = []
    for name, inner in probe.schema.fields.items():
        unit = inner.semantics.unit.decode() if inner.semantics and inner.semantics.unit else ""
        fields.append(f"{name} [{unit}]" if unit else name)
    reason = why.get(probe.name, getattr(probe, "description", "a device answers"))
    return {"name": probe.name, "every": every, "fields": ", ".join(fields), "why": reason}


if __name__ == "__main__":
    sys.exit(main())
