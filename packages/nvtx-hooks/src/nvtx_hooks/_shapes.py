# SPDX-License-Identifier: Apache-2.0
"""Shapes and dtypes of a call's tensors as a payload."""

from __future__ import annotations

from typing import Any

import torch

from nvtx_hooks._label import ModuleLabel

_MOST = 8


def with_shapes(
    label: ModuleLabel, shown: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    """Prepare a range of a label that tells the tensors of this call.

    Up to 8 tensors among the arguments are told: `arg0_dtype` and, unless it
    has no dimension, `arg0_shape`, an int64 array, for a positional one, `mask_dtype` and
    `mask_shape` for the keyword `mask`.

    Returns
    -------
    object
        What the emitter's `push` takes; `shown` itself where no argument is a tensor.
    """
    payload: dict[str, Any] = {}
    named = [*((f"arg{index}", value) for index, value in enumerate(args)), *(kwargs or {}).items()]
    tensors = [(name, value) for name, value in named if isinstance(value, torch.Tensor)]
    for name, value in tensors[:_MOST]:
        payload[f"{name}_shape"] = tuple(map(int, value.shape))
        payload[f"{name}_dtype"] = str(value.dtype).removeprefix("torch.")
    return label.with_payload(shown, payload) if payload else shown
