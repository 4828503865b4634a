# SPDX-License-Identifier: Apache-2.0
"""The two hooks that patched modules share: before and after forward.

There is one object of each, without state, under one key in every module: the compiler guards on
what hooks a module has, so that hooks of their own would make equal layers compile apart.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from nvtx_hooks._backward import BackwardScope, attach
from nvtx_hooks._capture import is_capturing
from nvtx_hooks._gradients import grad_nodes
from nvtx_hooks._label import KEY, NOT_SHOWN, ModuleLabel
from nvtx_hooks._shapes import with_shapes
from nvtx_hooks._stack import (
    LABEL,
    OPENED,
    OWNER,
    PASS,
    ThreadState,
    close_abandoned,
    close_owner,
    mark_bottom,
    threads,
)
from nvtx_hooks._switch import switch
from nvtx_hooks._torch_state import OUTSIDE, current_pass, transform

_frame = sys._getframe  # noqa: SLF001 - documented by Python all the same
_is_compiling = torch.compiler.is_compiling
_is_grad_enabled = torch.is_grad_enabled


class _ForwardPreHook:
    """Opens the forward range of the module that is called."""

    __slots__ = ()

    def __call__(
        self, module: torch.nn.Module, args: Any, kwargs: dict[str, Any] | None = None
    ) -> None:
        if _is_compiling():
            return
        label = module.__dict__.get(KEY)
        if label is None or not switch.on:
            return
        pass_id = current_pass()
        state = threads
        stack = state.stack
        # A forward inside a backward pass is a recompute.
        shown = label.forward if pass_id == OUTSIDE else label.recompute
        if pass_id == OUTSIDE:
            if not stack:
                mark_bottom(state, _frame(1))
                if is_capturing():
                    shown = label.captured
            elif label.root and stack[0][PASS] == OUTSIDE:
                close_abandoned(state, _frame(1))
        owner = id(module)
        if label.backward is not NOT_SHOWN and _is_grad_enabled() and transform() is None:
            _begin_call(state, label, owner, pass_id, grad_nodes(args, kwargs))
        if shown is NOT_SHOWN:
            return
        if label.shapes:
            shown = with_shapes(label, shown, args, kwargs)
        stack.append((owner, pass_id, label, label.push(shown)))

    def __reduce__(self) -> str:
        return "PRE_HOOK"


class _ForwardHook:
    """Closes the forward range, and ties the backward range to the call's autograd nodes."""

    __slots__ = ()

    def __call__(self, module: torch.nn.Module, args: Any, *rest: Any) -> None:
        if _is_compiling():
            return
        label = module.__dict__.get(KEY)
        if label is None:
            return
        state = threads
        stack = state.stack
        pass_id = current_pass()
        owner = id(module)
        if stack:
            top = stack[-1]
            if top[OWNER] == owner and top[PASS] == pass_id:
                stack.pop()
                top[LABEL].pop(top[OPENED])
            else:
                close_owner(stack, owner, pass_id)
        if state.calls:
            _end_call(state, owner, pass_id, rest[-1])

    def __reduce__(self) -> str:
        return "HOOK"


PRE_HOOK = _ForwardPreHook()
HOOK = _ForwardHook()


def _begin_call(
    state: ThreadState, label: ModuleLabel, owner: int, pass_id: int, inputs: list[Any]
) -> None:
    calls = state.calls
    parent = calls[-1][2] if calls and calls[-1][1] == pass_id else None
    calls.append((owner, pass_id, BackwardScope(label, parent), inputs))


def _end_call(state: ThreadState, owner: int, pass_id: int, result: Any) -> None:
    calls = state.calls
    for index in range(len(calls) - 1, -1, -1):
        if calls[index][0] == owner and calls[index][1] == pass_id:
            _, _, scope, inputs = calls[index]
            del calls[index:]
            outputs = grad_nodes(result)
            if outputs:
                attach(scope, inputs, outputs)
            return
