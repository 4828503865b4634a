# SPDX-License-Identifier: Apache-2.0
"""Ways to hook every module of a model that nvtx-hooks is compared with."""

from __future__ import annotations

import threading
from typing import Any

import nvtx
import torch


def empty_pair(model: torch.nn.Module) -> torch.nn.Module:
    """Hooks before and after forward that do nothing: the least that any hooks cost."""
    for module in model.modules():
        module.register_forward_pre_hook(lambda _module, _args: None)
        module.register_forward_hook(lambda _module, _args, _result: None)
    return model


def full_backward(model: torch.nn.Module) -> torch.nn.Module:
    """Add torch's own hooks around backward, which do nothing either."""
    for module in empty_pair(model).modules():
        module.register_full_backward_pre_hook(lambda _module, _grads: None)
        module.register_full_backward_hook(lambda _module, _inputs, _outputs: None)
    return model


def named_set(model: torch.nn.Module) -> torch.nn.Module:
    """The usual scheme: four hooks, a set of the names that are open, a flag on the module."""
    active = threading.local()

    def names() -> set[str]:
        if not hasattr(active, "names"):
            active.names = set()
        return active.names  # type: ignore[no-any-return]

    def hook(module: torch.nn.Module, name: str) -> None:
        def begin(module: Any, *_: Any) -> None:
            module.skipped = name in names()
            if not module.skipped:
                names().add(name)
                nvtx.push_range(name)

        def end(module: Any, *_: Any) -> None:
            if not module.skipped:
                nvtx.pop_range()
                names().discard(name)

        module.register_forward_pre_hook(begin)
        module.register_forward_hook(end)
        module.register_full_backward_pre_hook(begin)
        module.register_full_backward_hook(end)

    for path, module in model.named_modules():
        hook(module, f"{path}: {type(module).__name__}")
    return model
