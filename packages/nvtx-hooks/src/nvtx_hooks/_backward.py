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
from threading import get_ident
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
    current_thread,
    latest,
)
from nvtx_hooks._switch import switch
from nvtx_hooks._torch_state import OUTSIDE, current_pass, is_compiling


class BackwardScope:
    """One call of a module, as its backward range sees it.

    Autograd nodes keep it alive, so from `attach` on it holds neither module nor tensor nor node:
    a cycle through the graph is one that Python's collector cannot see.
    """

    __slots__ = ("inputs", "label", "opened", "parent")

    def __init__(
        self, label: ModuleLabel, parent: BackwardScope | None, inputs: Sequence[Any]
    ) -> None:
        self.label = label
        self.parent = parent
        self.inputs = inputs
        self.opened = OUTSIDE  # the last pass that opened it

    def attach(self, outputs: list[Any]) -> None:
        """Let the range begin at the nodes of the call's outputs and end at its inputs'."""
        inputs, self.inputs = self.inputs, ()
        if not outputs:
            return
        for node in outputs:
            hook = node.metadata.get(KEY) or _hooked(node)
            # Modules return before their callers: the outermost comes last, to open first.
            hook.opens = (self, *hook.opens)
        for node in inputs:
            hook = node.metadata.get(KEY) or _hooked(node)
            hook.closes = (*hook.closes, self)
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


class NodeHook:
    """What happens when the gradient reaches one autograd node.

    One is made for nearly every call of a module, so it is made without a constructor's call.
    """

    opens: tuple[BackwardScope, ...] = ()
    closes: tuple[BackwardScope, ...] = ()

    def run(self, _: Any) -> None:  # noqa: C901 - the calls of parts would cost what the rest does
        """Close the calls whose inputs the gradient reached, open those whose outputs it did."""
        if is_compiling():
            return
        pass_id = current_pass()
        state = latest.state
        if state.thread != get_ident():
            state = current_thread()
        closes = self.closes
        for scope in closes:
            if scope.opened == pass_id:
                top = state.top
                if top[OWNER] is scope:
                    state.top = top[BELOW]
                    top[CLOSE]()
                else:
                    _close(state, scope)
        if not switch.on:
            return
        for scope in self.opens:
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


def _hooked(node: Any) -> NodeHook:
    hook = node.metadata[KEY] = NodeHook()
    node.register_prehook(hook.run)
    return hook


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
