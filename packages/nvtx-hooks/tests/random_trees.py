# SPDX-License-Identifier: Apache-2.0
"""Random module trees: nested lists of what hypothesis draws, and the modules they stand for."""

from __future__ import annotations

from typing import Any

import torch
from blocks import Checkpointed
from hypothesis import strategies as st
from torch import nn

SIZE = 3


class Residual(nn.Sequential):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + super().forward(x)


class Branches(nn.ModuleList):
    """Gives all its modules the same input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum((branch(x) for branch in self), x * 0.5)


class Twice(nn.Sequential):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(super().forward(x))


class Unused(nn.Sequential):
    """Runs its modules for nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        super().forward(x)
        return x


class InPlace(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 2).mul_(0.5).add_(1)


class Raising(nn.Module):
    """Raises in its second forward."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls == 2:
            raise ArithmeticError
        return x


class _RaisesBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, raises: bool) -> torch.Tensor:
        ctx.raises = raises
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        if ctx.raises:
            raise ArithmeticError
        return grad, None


class RaisingBackward(nn.Module):
    """Raises in the backward pass of its second forward."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return _RaisesBackward.apply(x, self.calls == 2)


LEAVES: dict[str, Any] = {
    "linear": lambda: nn.Linear(SIZE, SIZE),
    "frozen": lambda: nn.Linear(SIZE, SIZE).requires_grad_(requires_grad=False),
    "identity": nn.Identity,
    "in place": InPlace,
    "raising": Raising,
    "raising backward": RaisingBackward,
    "relu": nn.ReLU,
}
NODES: dict[str, Any] = {
    "sequential": nn.Sequential,
    "residual": Residual,
    "branches": lambda *children: Branches(children),
    "twice": Twice,
    "unused": Unused,
    "checkpoint": lambda *children: Checkpointed(nn.Sequential(*children)),
    "reentrant": lambda *children: Checkpointed(nn.Sequential(*children), use_reentrant=True),
    "shared": lambda first, *rest: nn.Sequential(first, *rest, first),
}

trees = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inner: st.tuples(
        st.sampled_from(sorted(NODES)), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def build(tree: Any) -> nn.Module:
    """Make the modules of a tree, with weights that depend on the tree alone."""
    torch.manual_seed(0)
    return nn.Sequential(_build(tree))


def _build(tree: Any) -> nn.Module:
    if isinstance(tree, str):
        module: nn.Module = LEAVES[tree]()
    else:
        module = NODES[tree[0]](*map(_build, tree[1]))
    return module
