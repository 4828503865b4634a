# SPDX-License-Identifier: Apache-2.0
"""Models spread over processes and threads."""

import json
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path

import nvtx_hooks
import pytest
import torch
from blocks import Block
from recording import sequence
from torch import nn

WORKER = Path(__file__).with_name("distributed_worker.py")


def _backward(path):
    return f"+{path}' +{path}.b' -{path}.b' +{path}.a' -{path}.a' -{path}'"


def _forward(path):
    return f"+{path} +{path}.a -{path}.a +{path}.b -{path}.b -{path}"


EXPECTED = {
    "ddp": [
        "+DistributedDataParallel +module",
        *(_forward(f"module.{index}") for index in range(2)),
        "-module -DistributedDataParallel +DistributedDataParallel' +module'",
        *(_backward(f"module.{index}") for index in (1, 0)),
        "-module' -DistributedDataParallel'",
    ]
    * 2,
    "fsdp": [
        "+FSDPSequential",
        *(_forward(str(index)) for index in range(2)),
        "-FSDPSequential +FSDPSequential'",
        *(_backward(str(index)) for index in (1, 0)),
        "-FSDPSequential'",
    ]
    * 2,
    # Two micro-batches, all forward before all backward; what a stage runs before that, to learn
    # its shapes, differs between stages.
    "pipeline": [
        *[f"+Sequential {_forward('0')} -Sequential"] * 2,
        *[f"+Sequential' {_backward('0')} -Sequential'"] * 2,
    ],
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_two_processes_show_their_parts_and_compute_as_bare(kind, tmp_path):
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), kind, str(rank), str(tmp_path)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    errors = [worker.communicate()[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], errors
    expected = " ".join(EXPECTED[kind]).split()
    for rank in range(2):
        seen = json.loads((tmp_path / f"{rank}.json").read_text())
        lines = seen["lines"][-len(expected) :] if kind == "pipeline" else seen["lines"]
        assert lines == expected
        assert seen["equal"]


def test_replicas_in_threads_compute_with_their_own_weights_and_ranges(recorder):
    model = nvtx_hooks.patch(nn.Sequential(Block(), nn.Linear(4, 4)), "net")
    weights = dict(model.named_parameters())
    outputs = {}

    def run(index):
        replica = _replica(model)
        for name, weight in weights.items():
            owner, _, leaf = name.rpartition(".")
            setattr(replica.get_submodule(owner), leaf, weight * index)
        outputs[index] = replica(torch.ones(1, 4))

    threads = [threading.Thread(target=run, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torch.equal(outputs[1], model(torch.ones(1, 4)))
    assert not torch.equal(outputs[2], outputs[1])
    assert torch.equal(outputs[0], torch.zeros(1, 4))
    by_thread = defaultdict(list)
    for event in recorder.events():
        by_thread[event.thread].append(event)
    for events in by_thread.values():
        assert sequence(events) == f"+net {_forward('net.0')} +net.1 -net.1 -net".split()


def _replica(module):
    """What DataParallel makes of each module, without the devices that it spreads them over."""
    replica = module._replicate_for_data_parallel()
    for name, child in module._modules.items():
        replica._modules[name] = _replica(child)
    return replica
