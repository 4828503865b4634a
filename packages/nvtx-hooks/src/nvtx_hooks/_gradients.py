# SPDX-License-Identifier: Apache-2.0
"""The autograd nodes behind the tensors of a call's arguments or result."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import torch

from nvtx_hooks._torch_state import function_modes, unseen_by_modes, unseen_by_subclasses

_DEEPEST = 8
_LONGEST = 4096


def grad_nodes(*values: Any) -> list[Any]:
    """Find the distinct autograd nodes of all tensors in some values, in order.

    Tensors are looked for in lists, tuples, dicts and dataclasses, 8 levels deep and in the
    first 4,096 items of each; anything else, generators and iterators above all, is left alone.

    Parameters
    ----------
    *values : object
        Arguments or results of a module.

    Returns
    -------
    list of Node
        Empty where no tensor has a `grad_fn`; leaves have none.
    """
    found: list[Any] = []
    if function_modes():
        # A mode of the user's would see our reading of `grad_fn`.
        with unseen_by_modes():
            _collect(values, found, _DEEPEST)
    else:
        _collect(values, found, _DEEPEST)
    return found


def _collect(values: Any, found: list[Any], depth: int) -> None:
    for value in values:
        if isinstance(value, torch.Tensor):
            node = value.grad_fn if type(value) is torch.Tensor else _subclass_node(value)
            if node is not None and node not in found:
                found.append(node)
        elif depth and value is not None:
            inner = _items(value)
            if inner:
                _collect(islice(inner, _LONGEST), found, depth - 1)


def _items(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, dict):
        return dict.values(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in fields(value)]
    return ()


def _subclass_node(value: torch.Tensor) -> Any:
    with unseen_by_subclasses():
        return value.grad_fn
