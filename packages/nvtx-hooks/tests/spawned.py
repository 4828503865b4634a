# SPDX-License-Identifier: Apache-2.0
"""What a spawned process does with the model that it is given."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from recording import Recorder, sequence


def run_spawned(model: torch.nn.Module, x: torch.Tensor, sending: Connection) -> None:
    """Send what the model computes, and the ranges that its call showed."""
    recorder = Recorder(Path(os.environ["NVTX_INJECTION64_PATH"]))
    output = model(x).detach().tolist()
    sending.send((output, sequence(recorder.events())))
    recorder.clear()
