# SPDX-License-Identifier: Apache-2.0
"""The two hooks that patched modules share: before and after forward.

They are plain functions under one key in every module: the compiler guards on what hooks a module
has, so that hooks of their own would make equal layers compile apart. Copies and pickles refer to
them by name.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

import torch

from nvtx_hooks._backward import BackwardScope
from nvtx_hooks._capture import is_capturing
from nvtx_hooks._gradients import grad_nodes
from nvtx_hooks._label import KEY, NOT_SHOWN, ModuleLabel
from nvtx_hooks._shapes import with_shapes
from nvtx_hooks._stack import (
    BELOW,
    CALL,
    LABEL,
    OPENED,
    OWNER,
    PASS,
    Entry,
    ThreadState,
    begin_thread,
    states,
    unshown,
)
from nvtx_hooks._switch import switch
from nvtx_hooks._torch_state import OUTSIDE, current_pass, transform

_thread = threading.get_ident
_frame = sys._getframe  # noqa: SLF001 - documented by Python all the same
# Half the price of is_compiling(); export, which only that one tells, runs what hooks do as usual.
_is_compiling = torch.compiler.is_dynamo_compiling
_is_grad_enabled = torch.is_grad_enabled
_MISSING: Any = object()


def before_forward(
    module: torch.nn.Module, args: Any, kwargs: dict[str, Any] | None = None
) -> None:
    """Open the forward range of the module that is called."""
    if _is_compiling():
        return
    label = module.__dict__.get(KEY)
    if label is None or not switch.on:
        return
    try:
        state = states[_thread()]
    except KeyError:
        state = begin_thread()
    pass_id = current_pass()
    top = state.top
    if top is None or label.root or pass_id != OUTSIDE:
        shown = _settle(state, label, pass_id, _frame(1))
        top = state.top
    else:
        shown = label.forward
    scope = None
    if label.backward is not NOT_SHOWN and _is_grad_enabled() and transform() is None:
        scope = BackwardScope(label, _caller(top, pass_id), grad_nodes(args, kwargs))
    if shown is NOT_SHOWN:
        state.top = (top, module, pass_id, label, unshown, scope)
        return
    if label.shapes:
        shown = with_shapes(label, shown, args, kwargs)
    state.top = (top, module, pass_id, label, label.push(shown), scope)


def after_forward(
    module: torch.nn.Module, args: Any, result: Any, with_kwargs: Any = _MISSING
) -> None:
    """Close the forward range, and tie the backward range to the call's autograd nodes."""
    if _is_compiling():
        return
    try:
        state = states[_thread()]
    except KeyError:
        return
    top = state.top
    if top is not None and top[OWNER] is module:
        state.top = top[BELOW]
        (top[OPENED] or top[LABEL].pop)()
    else:
        # Something is open above it, or the call began unseen.
        top = state.find(module, current_pass())
        if top is None:
            return
        state.close(top)
    if top[CALL] is not None:
        # Libraries that copy hooks to other modules may call this one as with_kwargs=True does.
        top[CALL].attach(grad_nodes(result if with_kwargs is _MISSING else with_kwargs))


def _settle(state: ThreadState, label: ModuleLabel, pass_id: int, caller: FrameType) -> Any:
    """See to what is special about a call, and tell what it is to be shown as."""
    if pass_id != OUTSIDE:
        # A forward inside a backward pass is a recompute.
        state.enter_pass(pass_id)
        return label.recompute
    if state.top is not None:
        state.close_abandoned(caller)
        return label.forward
    state.mark_bottom(caller)
    return label.captured if is_capturing() else label.forward


def _caller(top: Entry | None, pass_id: int) -> BackwardScope | None:
    """Give the call that makes this one, where it is of the same pass."""
    scope: BackwardScope | None = top[CALL] if top is not None and top[PASS] == pass_id else None
    return scope
