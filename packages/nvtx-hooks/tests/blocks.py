# SPDX-License-Identifier: Apache-2.0
"""Small modules that the tests share."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    """Two linear layers; `a` runs before `b`."""

    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.a = nn.Linear(size, size)
        self.b = nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.b(torch.relu(self.a(x)))


class Checkpointed(nn.Module):
    """Runs a module under activation checkpointing."""

    def __init__(self, inner: nn.Module, **options: Any) -> None:
        super().__init__()
        self.inner = inner
        self.options = {"use_reentrant": False, **options}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.inner, x, **self.options)


class Apply(nn.Module):
    """Runs a function on modules: `Apply(lambda self, x: self.a(x), a=nn.Linear(1, 1))`."""

    def __init__(self, function: Any, **modules: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self, *args, **kwargs)
