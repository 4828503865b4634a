# SPDX-License-Identifier: Apache-2.0
"""Backward ranges from the autograd graph, without touching a module's inputs or outputs.

The graph is left as it is: nodes only get a hook that runs before them. The one of an output's
node opens the module's range, the one of an input's node closes it.

Autograd runs the nodes of a thread in the reverse order of their making. So a module's outputs
come before those of the modules it called, all of a module's own nodes come before those of its
inputs, and when another module's gradient arrives that it did not call, it is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nvtx_hooks._gradients import last_node
from nvtx_hooks._label import KEY, ModuleLabel
from nvtx_hooks._stack import (
    BELOW,
    CLOSE,
    NOTHING,
    OWNER,
    PASS,
    Entry,
    ThreadState,
    begin_thread,
    current_thread,
    threads,
)
from nvtx_hooks._switch import switch
from nvtx_hooks._torch_state import (
    OUTSIDE,
    caller_before,
    current_node,
    current_pass,
    goes_on,
    is_compiling,
)


class BackwardScope:
    """One call of a module, as its backward range sees it.

    Autograd nodes keep it alive, so from `attach` on it holds neither module nor tensor nor node:
    a cycle through the graph is one that Python's collector cannot see. One is made for every call
    of a module, so it is made without a constructor's call: see `scope_of`.

    Attributes
    ----------
    label : ModuleLabel
        How the range is shown.
    parent : BackwardScope or None
        The call that made this one.
    inputs : sequence of Node
        The autograd nodes of the call's inputs, until `attach`.
    opened : int
        The last backward pass that opened the range.
    """

    label: ModuleLabel
    parent: BackwardScope | None
    inputs: Sequence[Any]
    opened: int = OUTSIDE

    def attach(self, outputs: list[Any]) -> None:
        """Let the range begin at the nodes of the call's outputs and end at its inputs'."""
        inputs, self.inputs = self.inputs, ()
        if not outputs:
            return
        for node in outputs:
            metadata = node.metadata
            if KEY in metadata:
                closes, opens = metadata[KEY]
                # Modules return before their callers: the outermost comes last, to open first.
                metadata[KEY] = closes, (self, *opens)
            else:
                metadata[KEY] = (), (self,)
                call_before(node)
        for node in inputs:
            metadata = node.metadata
            if KEY in metadata:
                closes, opens = metadata[KEY]
                metadata[KEY] = (*closes, self), opens
            else:
                metadata[KEY] = (self,), ()
                call_before(node)
        if not inputs:
            last = last_node(outputs)
            if last is not None:
                last.register_hook(self.close)

    def close(self, *_: Any) -> None:
        """Close the range if it is open in this thread."""
        if not is_compiling() and self.opened == current_pass():
            _close(current_thread(), self)

    def within(self, other: object) -> bool:
        """Tell whether the call was made, at any distance, by another."""
        scope = self.parent
        while scope is not None:
            if scope is other:
                return True
            scope = scope.parent
        return False


def scope_of(
    label: ModuleLabel, parent: BackwardScope | None, inputs: Sequence[Any]
) -> BackwardScope:
    """Make the scope of a call."""
    scope = BackwardScope()
    scope.label = label
    scope.parent = parent
    scope.inputs = inputs
    return scope


def _reached(_: Any) -> None:  # noqa: C901 - the calls of parts would cost what the rest does
    """Close the calls whose inputs the gradient reached, open those whose outputs it did.

    Both lie in the metadata of the node that the gradient reached.
    """
    if is_compiling():
        return
    node = current_node()
    closes, opens = node.metadata[KEY]
    pass_id = current_pass()
    try:
        state = threads.state
    except AttributeError:
        state = begin_thread()
    for scope in closes:
        if scope.opened == pass_id:
            top = state.top
            if top[OWNER] is scope:
                state.top = top[BELOW]
                top[CLOSE]()
            else:
                _close(state, scope)
    # The pass may end here: with torch.autograd.grad() to a tensor that a module returned.
    if not switch.on or not (opens and goes_on(node)):
        return
    for scope in opens:
        if scope.opened != pass_id:
            top = state.top
            if top[OWNER] is not scope.parent or top[PASS] != pass_id:
                top = _make_way(state, scope, pass_id)
            scope.opened = pass_id
            label = scope.label
            push = label.push
            close = push(label.backward) or label.pop
            state.top = (top, scope, pass_id, label, close, None)
    # A module that returns its input has nothing to do backward.
    if closes and state.top[OWNER] in closes:
        state.close_top()


call_before = caller_before(_reached)


def _make_way(state: ThreadState, scope: BackwardScope, pass_id: int) -> Entry:
    """Close what ended without a sign when a scope opens in a pass, and give what lies below it."""
    if pass_id not in state.passes:
        state.enter_pass(pass_id)
    if state.top[OWNER] is not scope.parent:
        while state.top is not NOTHING and _is_over(state.top, scope, pass_id, state):
            state.close_top()
    return state.top


def _is_over(top: Entry, scope: BackwardScope, pass_id: int, state: ThreadState) -> bool:
    """Tell whether the innermost range ended without a sign when a scope opens."""
    if top[PASS] == pass_id:
        return not scope.within(top[OWNER])
    # Left by a pass that raised in a thread of the engine's, where nothing of ours runs after.
    return top[PASS] != OUTSIDE and top[PASS] not in state.passes


def _close(state: ThreadState, scope: BackwardScope) -> None:
    entry = state.find(scope, scope.opened)
    if entry is not None:
        state.close(entry)
