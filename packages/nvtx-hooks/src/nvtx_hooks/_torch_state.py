# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's private interface tells that its public one does not; all use of it is here."""

# ruff: noqa: SLF001 - there is no public way to know or do any of this

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any

import torch

# Half the price of torch.compiler.is_compiling(), and true where the compiler follows our hooks,
# forward or, with compiled autograd, backward. Export runs them as usual.
is_compiling: Callable[[], bool] = torch.compiler.is_dynamo_compiling

# The number of the backward pass that runs in this thread; never used twice. torch's own
# checkpointing asks it to know a recompute.
current_pass: Callable[[], int] = torch._C._current_graph_task_id

# What current_pass answers where no backward pass runs.
OUTSIDE = -1

# The autograd node that this thread is at.
current_node: Callable[[], Any] = torch._C._current_autograd_node

# None unless vmap, grad or another torch.func transform is at work.
transform: Callable[[], object | None] = torch._C._functorch.peek_interpreter_stack

# How many TorchFunctionModes are active.
function_modes: Callable[[], int] = torch._C._len_torch_function_stack

# Contexts in which modes and subclasses, or subclasses alone, do not see what is done.
unseen_by_modes: Any = torch._C.DisableTorchFunction
unseen_by_subclasses: Any = torch._C.DisableTorchFunctionSubclass

# Counts the nodes that a thread makes; autograd runs those of higher numbers first.
sequence_number: Callable[[Any], int] = methodcaller("_sequence_nr")

profiler_runs: Callable[[], bool] = torch._C._autograd._profiler_enabled


_will_run: Callable[[Any], bool] = torch._C._will_engine_execute_node


def goes_on(node: Any) -> bool:
    """Tell whether the backward pass that has reached a node runs it, or only wants its gradient.

    Parameters
    ----------
    node : Node
        The node that the calling thread is at.
    """
    leads_on = False
    try:
        for behind, _ in node.next_functions:
            if behind is not None:
                if _will_run(behind):  # nearly always the first
                    return True
                leads_on = True
    except RuntimeError:  # what is said of a leaf whose gradient is wanted
        return True
    return not leads_on


def caller_before(function: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make what lets autograd call a function, with the first gradient, before it runs a node.

    It does what a hook on the tensor that a node made does, without that tensor. `register_prehook`
    of the node would do, but makes a dictionary and a handle each time, at six times the price.
    """
    carrier = torch.empty(0)
    carrier._backward_hooks = {0: function}

    def call_before(node: Any) -> None:
        node._register_hook_dict(carrier)

    return call_before


def is_tracing() -> bool:
    """Tell whether torch.jit.trace is recording what is called."""
    return torch._C._get_tracing_state() is not None


def at_pass_end(callback: Callable[[], None]) -> None:
    """Let the backward pass that runs in this thread call a function at its end."""
    torch.autograd.Variable._execution_engine.queue_callback(callback)
