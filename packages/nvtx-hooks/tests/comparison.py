# SPDX-License-Identifier: Apache-2.0
"""Runs a model bare and patched on the same input, and compares everything that it computes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import nvtx_hooks
import torch
from torch.utils._pytree import tree_leaves


def assert_unchanged(
    model: torch.nn.Module,
    *inputs: Any,
    steps: int = 2,
    loss: Callable[[Any], torch.Tensor] | None = None,
    **options: Any,
) -> torch.nn.Module:
    """Train a bare and a patched copy, assert bit-equal results, and return the patched one."""
    patched = nvtx_hooks.patch(copy.deepcopy(model), **options)
    assert nvtx_hooks.is_patched(patched)
    for _ in range(steps):
        bare = _step(model, copy.deepcopy(inputs), loss)
        ours = _step(patched, copy.deepcopy(inputs), loss)
        assert len(bare) == len(ours)
        assert all(map(_equal, bare, ours))
    return patched


def _step(model: torch.nn.Module, inputs: Any, loss: Any) -> list[Any]:
    torch.manual_seed(0)
    output = model(*inputs)
    leaves = [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor)]
    total = loss(output) if loss else sum(leaf.sum() for leaf in leaves if leaf.requires_grad)
    if isinstance(total, torch.Tensor):
        total.backward()
    grads = [parameter.grad for parameter in model.parameters()]
    grads += [leaf.grad for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter -= 0.001 * parameter.grad  # small: NaN is not equal to NaN
    return [type(output), *(leaf.detach() for leaf in leaves), *grads]


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    return one is other
