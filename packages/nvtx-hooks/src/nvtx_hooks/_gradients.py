# SPDX-License-Identifier: Apache-2.0
"""The autograd nodes behind the tensors of a call's arguments or result."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import torch

from nvtx_hooks._torch_state import (
    function_modes,
    sequence_number,
    unseen_by_modes,
    unseen_by_subclasses,
)

_DEEPEST = 8
_LONGEST = 4096
_MOST_NODES = 16
_Tensor = torch.Tensor


def grad_nodes(values: tuple[Any, ...]) -> list[Any]:
    """Find the distinct autograd nodes of all tensors in some values, in order.

    Tensors are looked for in lists, tuples, dicts and dataclasses, 8 levels deep and in the
    first 4,096 items of each; anything else, generators and iterators above all, is left alone.

    Parameters
    ----------
    values : tuple
        Arguments or results of a module.

    Returns
    -------
    list of Node
        Empty where no tensor has a `grad_fn`; leaves have none.
    """
    if len(values) == 1 and type(values[0]) is _Tensor and not function_modes():
        node = values[0].grad_fn
        return [] if node is None else [node]
    found: list[Any] = []
    if function_modes():
        # A mode of the user's would see our reading of `grad_fn`.
        with unseen_by_modes():
            _collect(values, found, _DEEPEST)
    else:
        _collect(values, found, _DEEPEST)
    return found


def last_node(outputs: list[Any]) -> Any:
    """Find the node that autograd runs last of those behind some others.

    Parameters
    ----------
    outputs : list of Node
        The nodes of a call's outputs, none of whose inputs has one: all behind them is the call's.

    Returns
    -------
    Node or None
        None where there are more than 16. Nodes that only add a gradient to its leaf do not count.
    """
    found = list(outputs)
    for node in found:  # grows while it is walked
        for behind, _ in node.next_functions:
            if behind is not None and behind not in found and not hasattr(behind, "variable"):
                found.append(behind)
        if len(found) > _MOST_NODES:
            return None
    return min(found, key=sequence_number)


def _collect(values: Any, found: list[Any], depth: int) -> None:
    for value in values:
        if type(value) is _Tensor:
            node = value.grad_fn
        elif isinstance(value, _Tensor):
            node = _subclass_node(value)
        else:
            if value is not None and depth:
                _collect_items(value, found, depth - 1)
            continue
        if node is not None and node not in found:
            found.append(node)


def _collect_items(value: Any, found: list[Any], depth: int) -> None:
    if isinstance(value, (list, tuple)):
        items: Any = value
    elif isinstance(value, dict):
        items = dict.values(value)
    elif is_dataclass(value) and not isinstance(value, type):
        items = [getattr(value, field.name, None) for field in fields(value)]
    else:
        return
    _collect(items if len(items) <= _LONGEST else islice(items, _LONGEST), found, depth)


def _subclass_node(value: torch.Tensor) -> Any:
    with unseen_by_subclasses():
        return value.grad_fn
