# SPDX-License-Identifier: Apache-2.0
"""One of two processes that train a model in parallel; prints its ranges as JSON.

The injection that it reads is the one of the test's process, whose environment it inherits.

Usage: python distributed_worker.py KIND RANK FOLDER
"""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path

import nvtx_hooks
import torch
import torch.distributed as dist
from blocks import Block
from recording import Recorder, sequence
from torch import nn

KIND, RANK, FOLDER = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])


def _wrapped(model: nn.Module) -> nn.Module:
    if KIND == "ddp":
        return nn.parallel.DistributedDataParallel(model)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (2,))
    for child in model:
        fully_shard(child, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


def _train(model: nn.Module) -> list[torch.Tensor]:
    seen = []
    for step in range(2):
        output = model(torch.full((2, 4), float(RANK + step)))
        output.sum().backward()
        seen.append(output.detach().clone())
        for parameter in model.parameters():
            grad = parameter.grad
            assert grad is not None
            seen.append(getattr(grad, "_local_tensor", grad).clone())
        model.zero_grad()
    return seen


def _pipelined(model: nn.Module, *, patch: bool) -> list[torch.Tensor]:
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    part = nn.Sequential(model[RANK])
    if patch:
        nvtx_hooks.patch(part)
    stage = PipelineStage(part, RANK, 2, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, 2, loss_fn=lambda output, target: (output - target).sum())
    x, target = torch.ones(4, 4), torch.zeros(4, 4)
    schedule.step(*([x] if RANK == 0 else []), **({} if RANK == 0 else {"target": target}))
    return [parameter.grad.clone() for parameter in part.parameters()]


def main() -> None:
    dist.init_process_group("gloo", f"file://{FOLDER}/rendezvous", rank=RANK, world_size=2)
    torch.manual_seed(0)
    model = nn.Sequential(Block(), Block())
    if KIND == "pipeline":
        bare = _pipelined(copy.deepcopy(model), patch=False)
        ours = _pipelined(model, patch=True)
    else:
        bare = _train(_wrapped(copy.deepcopy(model)))
        ours = _train(nvtx_hooks.patch(_wrapped(model)))
    equal = len(ours) == len(bare) and all(map(torch.equal, ours, bare))
    recorder = Recorder(Path(os.environ["NVTX_INJECTION64_PATH"]))
    lines = sequence(recorder.events())
    recorder.clear()
    (FOLDER / f"{RANK}.json").write_text(json.dumps({"equal": equal, "lines": lines}))
    # Whoever is done first must not close the connections that the other one still uses.
    dist.barrier()
    # At once: PyTorch's threads, rarely and without a cause that could be found, abort a process
    # of FSDP that ends as usual ("terminate called without an active exception").
    os._exit(0)


if __name__ == "__main__":
    main()
