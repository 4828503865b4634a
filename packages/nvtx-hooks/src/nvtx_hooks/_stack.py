# SPDX-License-Identifier: Apache-2.0
"""The ranges that each thread has open; closing one closes what is above it."""

from __future__ import annotations

import os
import threading
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nvtx_hooks._label import ModuleLabel

# An open range: who closes it (the id of the module that is called, or a BackwardScope), the
# backward pass it was opened in (OUTSIDE: none), its label, and what the emitter gave for it.
# A plain tuple: making one is several times cheaper than any class, and every call makes one.
Entry = tuple[Any, int, "ModuleLabel", Any]
OWNER: Final = 0
PASS: Final = 1
LABEL: Final = 2
OPENED: Final = 3


class ThreadState(threading.local):
    """What one thread has open.

    Attributes
    ----------
    stack : list of Entry
        The open ranges, outermost first.
    calls : list of tuple
        The module calls in progress that are to get backward ranges: the module's id, the pass,
        the BackwardScope and the autograd nodes of the call's inputs.
    passes : set of int
        The backward passes that opened something here and have not ended.
    bottom : tuple of int and CodeType
        The Python frame that called the module of the outermost range.
    """

    def __init__(self) -> None:
        self.stack: list[Entry] = []
        self.calls: list[tuple[int, int, Any, list[Any]]] = []
        self.passes: set[int] = set()
        self.bottom: tuple[int, CodeType | None] = (0, None)


threads = ThreadState()


def close_from(stack: list[Entry], index: int) -> None:
    """Close the range at an index and everything above it, innermost first."""
    while len(stack) > index:
        entry = stack.pop()
        entry[LABEL].pop(entry[OPENED])


def close_owner(stack: list[Entry], owner: object, pass_id: int) -> None:
    """Close the innermost range of an owner in a pass; without one, do nothing."""
    for index in range(len(stack) - 1, -1, -1):
        entry = stack[index]
        if entry[PASS] == pass_id and entry[OWNER] == owner:
            close_from(stack, index)
            return


def close_pass(stack: list[Entry], pass_id: int) -> None:
    """Close everything that a backward pass left open, and what is above it."""
    for index, entry in enumerate(stack):
        if entry[PASS] == pass_id:
            close_from(stack, index)
            return


def close_labels(stack: list[Entry], labels: set[ModuleLabel]) -> None:
    """Close the outermost range that has one of some labels, and everything above it."""
    for index, entry in enumerate(stack):
        if entry[LABEL] in labels:
            close_from(stack, index)
            return


def mark_bottom(state: ThreadState, caller: FrameType) -> None:
    """Remember which frame called the module of the outermost range.

    Its id and its code, not the frame itself, which would keep the call's tensors alive.
    """
    state.bottom = (id(caller), caller.f_code)
    state.calls.clear()


def close_abandoned(state: ThreadState, caller: FrameType) -> None:
    """Close everything if the outermost call is no longer running.

    PyTorch runs no hook of a module whose forward ends by KeyboardInterrupt or another exception
    that is no Exception, so that its range stays open. The next call of a patched root finds
    that the frame of the outermost call is gone.
    """
    frame_id, code = state.bottom
    frame = caller.f_back
    while frame is not None:
        if id(frame) == frame_id and frame.f_code is code:
            return
        frame = frame.f_back
    close_from(state.stack, 0)
    mark_bottom(state, caller)


def _forget_after_fork() -> None:
    # The parent goes on with its ranges and will close them; the child's NVTX never opened them.
    threads.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
