# SPDX-License-Identifier: Apache-2.0
"""Capture a training run live, replay its profiler's trace and a table, and join all of it.

The live part comes from `scripts/demo_training.py`: its own ranges, a range around every module,
and memory counters. The requests are made up. Every part is on the system's clock (REALTIME), so
they line up without any shifting.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from nvtx_replay import importers, open_session

TRAINING = Path(__file__).with_name("demo_training.py")
REQUESTS = 40


def run(folder: Path, name: str, *arguments: str | Path) -> None:
    """Run an installed command in a folder, and show it."""
    words = [name, *map(str, arguments)]
    print(f"$ {shlex.join(words)}", flush=True)
    installed = Path(sys.executable).with_name(name)
    subprocess.run([installed, *words[1:]], cwd=folder, check=True)


def request_table(began: int, ended: int) -> dict[str, Any]:
    """Make up requests of a server: when each came, how long it took, how much it asked for."""
    random = np.random.default_rng(0)
    start = np.sort(random.integers(began, ended, REQUESTS))
    latency = (random.gamma(2.0, (ended - began) / 60, REQUESTS)).astype(np.int64)
    return {
        "start": start,
        "end": start + latency,
        "message": random.choice(["prefill", "decode", "embed"], REQUESTS),
        "tokens": random.integers(1, 2048, REQUESTS),
        "latency_ms": latency / 1e6,
    }


def queue_table(requests: dict[str, Any]) -> dict[str, Any]:
    """Count the requests in flight whenever one comes or goes."""
    times = np.concatenate([requests["start"], requests["end"]])
    change = np.concatenate([np.ones(REQUESTS, np.int64), -np.ones(REQUESTS, np.int64)])
    order = np.argsort(times, kind="stable")
    return {"time": times[order], "in_flight": np.cumsum(change[order])}


def write_replayed(source: Any, requests: dict[str, Any], output: Path) -> None:
    """Put the profiler's trace and the tables into one session."""
    with open_session(output, name="replayed", overwrite=True) as session:
        source.write(session)
        with session.stream("requests", domain="server", time_domain="realtime") as stream:
            stream.write_ranges(requests, kind="startend")
            stream.write_counters(
                queue_table(requests), time="time", units={"in_flight": "requests"}
            )


def main() -> None:
    """Write the demo into a folder and say what to do with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/demo"))
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)

    live, replayed, output = "live.pftrace", "replayed.pftrace", "demo.pftrace"
    training = ("--", sys.executable, TRAINING)
    run(folder, "nvtx-perfetto", "run", "-f", "-o", live, *training)
    source = importers.scan(folder / "profile.json")
    requests = request_table(*json.loads((folder / "span.json").read_text()))
    write_replayed(source, requests, folder / replayed)
    run(folder, "nvtx-perfetto", "join", "-f", "-o", output, live, replayed)
    run(folder, "nvtx-replay", "info", output)

    names = Counter(map(str, requests["message"]))
    print(f"\n{folder / output}, joined from")
    print(f"  {live}: a training run, captured live")
    print(f"  {replayed}: torch.profiler's trace of the same run, with {source.report},")
    print(f"    a table of {REQUESTS} requests: {dict(names)},")
    print(f"    and the counter in_flight: {2 * REQUESTS} samples")
    print("Open it at https://ui.perfetto.dev (it stays on this machine).")


if __name__ == "__main__":
    main()
