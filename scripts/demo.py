# SPDX-License-Identifier: Apache-2.0
"""Train under torch.profiler; put its trace, request latencies and a counter on one timeline.

The profiler's JSON is converted; the requests, which are made up, and the counter come from plain
tables. All share the system's clock (REALTIME), so they line up without any shifting.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from nvtx_replay import importers, open_session
from torch.profiler import ProfilerActivity, profile, record_function

STEPS = 8
REQUESTS = 40


def build_model() -> torch.nn.Module:
    """Build two encoder layers and a head: enough to show structure."""
    layer = torch.nn.TransformerEncoderLayer(64, nhead=4, dim_feedforward=128, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, num_layers=2)
    return torch.nn.Sequential(encoder, torch.nn.Linear(64, 10))


def train(model: torch.nn.Module, steps: int) -> list[float]:
    """Train on random data; give the loss of each step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(steps):
        with record_function(f"step {step}"):
            with record_function("load batch"):
                batch, labels = torch.randn(16, 32, 64), torch.randint(10, (16, 32))
            with record_function("forward"):
                loss = torch.nn.functional.cross_entropy(
                    model(batch).flatten(0, 1), labels.flatten()
                )
            with record_function("backward"):
                loss.backward()  # type: ignore[no-untyped-call]
            with record_function("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def profiled_training(path: Path) -> tuple[int, int]:
    """Write the profiler's JSON; give begin and end of the training in ns since 1970."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the trace shows one thread at work, whatever the machine
    model = build_model()
    train(model, 2)  # first calls allocate and choose kernels: they would hide the rest
    activities = [ProfilerActivity.CPU]
    with profile(activities=activities, profile_memory=True, record_shapes=True) as profiler:
        began = time.time_ns()
        train(model, STEPS)
        ended = time.time_ns()
    profiler.export_chrome_trace(str(path))
    return began, ended


def request_table(began: int, ended: int) -> dict[str, Any]:
    """Make up requests of a server: when each came, how long it took, how much it asked for."""
    random = np.random.default_rng(0)
    start = np.sort(random.integers(began, ended, REQUESTS))
    latency = (random.gamma(2.0, (ended - began) / 40, REQUESTS)).astype(np.int64)
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


def write_trace(source: Any, requests: dict[str, Any], output: Path) -> None:
    """Put the converted trace and the tables into one session."""
    with open_session(output, name="demo", overwrite=True) as session:
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
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    recorded, output = folder / "training.json", folder / "demo.pftrace"
    began, ended = profiled_training(recorded)
    source = importers.scan(recorded)
    requests = request_table(began, ended)
    write_trace(source, requests, output)

    print(f"\n{output.resolve()}: {output.stat().st_size / 1e6:.1f} MB")
    print(f"  from torch.profiler, {recorded.stat().st_size / 1e6:.1f} MB of JSON:")
    for what, count in source.contents.items():
        print(f"    {what}: {count}")
    names = Counter(map(str, requests["message"]))
    print(f"  from a table, {REQUESTS} requests: {dict(names)}")
    print(f"  from a table, the counter in_flight: {2 * REQUESTS} samples")
    print(f"  report: {source.report}")
    print("Open it at https://ui.perfetto.dev (it stays on this machine), or ask it in SQL:")
    print(f"  nvtx-replay info {output}")


if __name__ == "__main__":
    main()
