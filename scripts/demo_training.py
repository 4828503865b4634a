# SPDX-License-Identifier: Apache-2.0
"""The training program of the demo: annotated, hooked, sampled and profiled.

It knows no tool. Without one the annotations do next to nothing, and it trains all the same.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nvtx
import nvtx_hooks
import torch
from nvtx_torch_counters import CounterSampler
from torch.profiler import ProfilerActivity, profile

STEPS = 8
Batch = tuple[torch.Tensor, torch.Tensor]


def build_model() -> torch.nn.Module:
    """Build two encoder layers and a head: enough to show structure."""
    layer = torch.nn.TransformerEncoderLayer(64, nhead=4, dim_feedforward=128, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, num_layers=2)
    return torch.nn.Sequential(encoder, torch.nn.Linear(64, 10))


def batches(count: int) -> Iterator[Batch]:
    """Yield random batches that another thread prepares, one ahead."""
    ready: queue.Queue[tuple[Batch, Any]] = queue.Queue(maxsize=1)

    def load() -> None:
        for number in range(count):
            with nvtx.annotate(f"load batch {number}", domain="loader"):
                batch = load_batch()
            # Begins here and ends in the thread that takes the batch.
            waiting = nvtx.start_range(f"batch {number} waits", domain="loader")
            ready.put((batch, waiting))

    loader = threading.Thread(target=load, name="loader")
    loader.start()
    for _ in range(count):
        batch, waiting = ready.get()
        nvtx.end_range(waiting)
        yield batch
    loader.join()


def load_batch() -> Batch:
    """Make data up, in two parts that take a while."""
    with nvtx.annotate("read", domain="loader"):
        read = torch.randn(32, 64, 64, 16)
    with nvtx.annotate("reduce", domain="loader"):
        reduced = read.mean(dim=3) * 4
        return reduced, reduced[..., :10].argmax(dim=2)


def train(model: torch.nn.Module, data: Iterable[Batch]) -> None:
    """Train for a step a batch, with a range of the domain `trainer` around each part of a step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = nvtx.get_domain("trainer").get_counter("loss", float)
    for number, (batch, labels) in enumerate(data):
        with nvtx.annotate(f"step {number}", domain="trainer", payload=number):
            with nvtx.annotate("forward", domain="trainer"):
                found = model(batch).flatten(0, 1)
                loss = torch.nn.functional.cross_entropy(found, labels.flatten())
            with nvtx.annotate("backward", domain="trainer"):
                loss.backward()  # type: ignore[no-untyped-call]
            with nvtx.annotate("optimizer", domain="trainer"):
                optimizer.step()
                optimizer.zero_grad()
            losses.sample(loss.item())


def main() -> None:
    """Train; leave the profiler's JSON here, and when training began and ended."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the trace shows the program's own threads, whatever the machine
    model = build_model()
    with nvtx.annotate("warm up", domain="trainer"):  # first calls allocate and choose kernels
        train(model, [load_batch()])
    nvtx_hooks.patch(model)
    activities = [ProfilerActivity.CPU]
    with CounterSampler(interval=0.002), profile(activities=activities) as profiler:
        began = time.time_ns()
        train(model, batches(STEPS))
        ended = time.time_ns()
    profiler.export_chrome_trace("profile.json")
    Path("span.json").write_text(json.dumps([began, ended]))


if __name__ == "__main__":
    main()
