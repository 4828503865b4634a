# SPDX-License-Identifier: Apache-2.0
"""Backward ranges from the autograd graph, without touching a module's inputs or outputs.

The graph is left as it is: nodes only get a hook that runs before them. The one of an output's
node opens the module's range, the one of an input's node closes it.

Autograd runs the nodes of a thread in the reverse order of their making. So a module's outputs
come before those of the modules it called, all of a module's own nodes come before those of its
inputs, and when another module's gradient arrives that it did not call, it is done.
"""

from __future__ import annotations

import threading
from typing import Any

from nvtx_hooks._label import KEY, ModuleLabel
from nvtx_hooks._stack import (
    OWNER,
    PASS,
    Entry,
    ThreadState,
    close_from,
    close_pass,
    threads,
)
from nvtx_hooks._switch import switch
from nvtx_hooks._torch_state import OUTSIDE, at_pass_end, current_pass


class BackwardScope:
    """One call of a module, as its backward range sees it.

    Autograd nodes keep it alive, so it holds neither module nor tensor nor node: a cycle through
    the graph is one that Python's collector cannot see.
    """

    __slots__ = ("label", "opened", "parent")

    def __init__(self, label: ModuleLabel, parent: BackwardScope | None) -> None:
        self.label = label
        self.parent = parent
        self.opened = OUTSIDE

    def within(self, other: object) -> bool:
        """Tell whether the call was made, at any distance, by another."""
        scope = self.parent
        while scope is not None:
            if scope is other:
                return True
            scope = scope.parent
        return False


class NodeHook:
    """What happens when the gradient reaches one autograd node."""

    __slots__ = ("closes", "opens")

    def __init__(self) -> None:
        self.opens: list[BackwardScope] = []
        self.closes: list[BackwardScope] = []

    def __call__(self, _: Any) -> None:
        """Close the calls whose inputs the gradient reached, open those whose outputs it did."""
        pass_id = current_pass()
        state = threads
        stack = state.stack
        for scope in self.closes:
            _close(stack, scope, pass_id)
        if switch.on:
            for scope in self.opens:
                if scope.opened != pass_id:
                    _open(state, stack, scope, pass_id)
            # A module that returns its input has nothing to do backward.
            if stack and stack[-1][OWNER] in self.closes:
                _close(stack, stack[-1][OWNER], pass_id)


def attach(scope: BackwardScope, inputs: list[Any], outputs: list[Any]) -> None:
    """Let a call's range begin at the nodes of its outputs and end at those of its inputs."""
    for node in outputs:
        # Modules return before their callers: the outermost comes last and must open first.
        _hook_of(node).opens.insert(0, scope)
    for node in inputs:
        _hook_of(node).closes.append(scope)


def _hook_of(node: Any) -> NodeHook:
    metadata = node.metadata
    hook: NodeHook | None = metadata.get(KEY)
    if hook is None:
        hook = metadata[KEY] = NodeHook()
        node.register_prehook(hook)
    return hook


def _open(state: ThreadState, stack: list[Entry], scope: BackwardScope, pass_id: int) -> None:
    scope.opened = pass_id
    if pass_id not in state.passes:
        state.passes.add(pass_id)
        at_pass_end(_PassEnd(state, pass_id))
    while stack and _is_over(stack[-1], scope, pass_id, state.passes):
        close_from(stack, len(stack) - 1)
    label = scope.label
    stack.append((scope, pass_id, label, label.push(label.backward)))


def _is_over(top: Entry, scope: BackwardScope, pass_id: int, passes: set[int]) -> bool:
    """Tell whether the innermost range ended without a sign when a scope opens."""
    if top[PASS] == pass_id:
        return top[OWNER] is not scope.parent and not scope.within(top[OWNER])
    # Left by a pass that raised in a thread of the engine's, where nothing of ours runs after.
    return top[PASS] != OUTSIDE and top[PASS] not in passes


def _close(stack: list[Entry], scope: BackwardScope, pass_id: int) -> None:
    if scope.opened != pass_id:
        return
    for index in range(len(stack) - 1, -1, -1):
        if stack[index][OWNER] is scope:
            close_from(stack, index)
            return


class _PassEnd:
    """Closes what a backward pass leaves open in one thread.

    Autograd calls it at the end of the pass. When the pass raises it is not called but freed,
    before the exception reaches Python.
    """

    __slots__ = ("_pass_id", "_passes", "_stack", "_thread")

    def __init__(self, state: ThreadState, pass_id: int) -> None:
        self._pass_id = pass_id
        self._passes = state.passes
        self._stack = state.stack
        self._thread = threading.get_ident()

    def __call__(self) -> None:
        if self._pass_id not in self._passes:
            return
        self._passes.discard(self._pass_id)
        if threading.get_ident() == self._thread:
            close_pass(self._stack, self._pass_id)

    __del__ = __call__
