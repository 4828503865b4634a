# SPDX-License-Identifier: Apache-2.0
"""The two hooks that patched modules share: before and after forward.

They are plain functions under one key in every module: the compiler guards on what hooks a module
has, so that hooks of their own would make equal layers compile apart. Copies and pickles refer to
them by name.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import torch

from nvtx_hooks._backward import scope_of
from nvtx_hooks._capture import is_capturing
from nvtx_hooks._gradients import grad_nodes
from nvtx_hooks._label import NOT_SHOWN, ModuleLabel
from nvtx_hooks._shapes import with_shapes
from nvtx_hooks._stack import (
    CALL,
    NOTHING,
    PASS,
    ThreadState,
    begin_thread,
    threads,
    unshown,
)
from nvtx_hooks._switch import switch
from nvtx_hooks._torch_state import OUTSIDE, current_pass, is_compiling, transform

_frame = sys._getframe  # noqa: SLF001 - documented by Python all the same
_is_grad_enabled = torch.is_grad_enabled
_MISSING: Any = object()


def before_forward(
    module: torch.nn.Module, args: Any, kwargs: dict[str, Any] | None = None
) -> None:
    """Open the forward range of the module that is called."""
    if is_compiling():
        return
    try:
        # Cheaper than a look into `__dict__`; missing where a library copied the hooks alone.
        label: Any = module._nvtx_hooks_label  # noqa: SLF001 - the entry named KEY
    except AttributeError:
        return
    if not switch.on:
        return
    try:
        state = threads.state
    except AttributeError:
        state = begin_thread()
    top = state.top
    if label.apart or top[PASS] != OUTSIDE or state.passes:
        _begin_apart(state, module, label, args, kwargs)
        return
    # A pass that began since the call around this one would have reached one of our nodes.
    scope = None
    if _is_grad_enabled() and transform() is None:
        inputs = grad_nodes((*args, kwargs) if kwargs else args)
        scope = scope_of(label, top[CALL], inputs)
    push = label.push  # read apart from the call: Python is quicker at either
    state.top = (top, module, OUTSIDE, label, push(label.forward) or label.pop, scope)


def after_forward(
    module: torch.nn.Module, args: Any, result: Any, with_kwargs: Any = _MISSING
) -> None:
    """Close the forward range, and tie the backward range to the call's autograd nodes."""
    if is_compiling():
        return
    try:
        state = threads.state
    except AttributeError:
        state = begin_thread()
    below, owner, _, _, close, call = state.top
    if owner is module:
        state.top = below
        close()
    else:
        # Something is open above it, or the call began unseen.
        entry = state.find(module, current_pass())
        if entry is None:
            return
        state.close(entry)
        call = entry[CALL]
    if call is not None:
        # Libraries that copy hooks to other modules may call this one as with_kwargs=True does.
        call.attach(grad_nodes((result if with_kwargs is _MISSING else with_kwargs,)))


def _begin_apart(
    state: ThreadState,
    module: torch.nn.Module,
    label: ModuleLabel,
    args: Any,
    kwargs: dict[str, Any] | None,
) -> None:
    """Open the range of a call with something special about it."""
    pass_id = current_pass()
    shown = _settle(state, label, pass_id, _frame(2))
    top = state.top
    scope = None
    if label.backward is not NOT_SHOWN and _is_grad_enabled() and transform() is None:
        inputs = grad_nodes((*args, kwargs) if kwargs else args)
        scope = scope_of(label, top[CALL] if top[PASS] == pass_id else None, inputs)
    close = unshown
    if shown is not NOT_SHOWN:
        if label.shapes:
            shown = with_shapes(label, shown, args, kwargs)
        close = label.push(shown) or label.pop
    state.top = (top, module, pass_id, label, close, scope)


def _settle(state: ThreadState, label: ModuleLabel, pass_id: int, caller: FrameType) -> Any:
    """See to what is special about a call, and tell what it is to be shown as."""
    if pass_id != OUTSIDE:
        # A forward inside a backward pass is a recompute.
        state.enter_pass(pass_id)
        return label.recompute
    if state.top is not NOTHING:
        if label.root:
            state.close_abandoned(caller)
        return label.forward
    state.mark_bottom(caller)
    return label.captured if is_capturing() else label.forward
