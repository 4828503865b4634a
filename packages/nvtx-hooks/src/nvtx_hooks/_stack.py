# SPDX-License-Identifier: Apache-2.0
"""The ranges that each thread has open; closing one closes what is above it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from nvtx_hooks._torch_state import OUTSIDE, at_pass_end

if TYPE_CHECKING:
    from nvtx_hooks._label import ModuleLabel

# An open range: the one below it, who closes it (the module that is called, or a
# BackwardScope), the backward pass it was opened in (OUTSIDE: none), its label, what is called to
# close it, and for a call that is to get a backward range the BackwardScope. A tuple linked
# to the next: opening and closing one costs a fraction of a class in a list, and every call does.
Entry = tuple[Any, Any, "int | None", "ModuleLabel", Any, Any]
BELOW: Final = 0
OWNER: Final = 1
PASS: Final = 2
LABEL: Final = 3
CLOSE: Final = 4
CALL: Final = 5


# What lies below the outermost range, so that there is always a top to look at. It was opened
# neither in a pass nor outside of one.
NOTHING: Entry = (None, None, None, None, None, None)  # type: ignore[assignment]


def unshown() -> None:
    """Stand for what closes the range of a call that is tracked but not shown."""


class ThreadState:
    """What one thread has open.

    Attributes
    ----------
    top : Entry
        The innermost open range; NOTHING where none is open.
    passes : set of int
        The backward passes that opened something here and have not ended.
    bottom : tuple of int and CodeType
        The Python frame that called the module of the outermost range.
    """

    __slots__ = ("bottom", "passes", "top")

    def __init__(self) -> None:
        self.top: Entry = NOTHING
        self.passes: set[int] = set()
        self.bottom: tuple[int, CodeType | None] = (0, None)

    def entries(self) -> Iterator[Entry]:
        """Give what is open, innermost first."""
        entry = self.top
        while entry is not NOTHING:
            yield entry
            entry = entry[BELOW]

    def close_top(self) -> None:
        """Close the innermost range."""
        entry = self.top
        if entry is not NOTHING:
            self.top = entry[BELOW]
            entry[CLOSE]()

    def close(self, entry: Entry) -> None:
        """Close a range and everything above it, innermost first."""
        below = entry[BELOW]
        while self.top is not below:
            self.close_top()

    def close_outermost(self, is_meant: Callable[[Entry], bool]) -> None:
        """Close the outermost range for which a function holds, and everything above it."""
        meant = [entry for entry in self.entries() if is_meant(entry)]
        if meant:
            self.close(meant[-1])

    def find(self, owner: object, pass_id: int) -> Entry | None:
        """Find the innermost range of an owner in a pass."""
        for entry in self.entries():
            if entry[PASS] == pass_id and entry[OWNER] is owner:
                return entry
        return None

    def enter_pass(self, pass_id: int) -> None:
        """Let the backward pass that runs in this thread close at its end what it left open."""
        if pass_id not in self.passes:
            self.passes.add(pass_id)
            at_pass_end(_PassEnd(self, pass_id))

    def mark_bottom(self, caller: FrameType) -> None:
        """Remember which frame called the module of the outermost range.

        Its id and its code, not the frame itself, which would keep the call's tensors alive.
        """
        self.bottom = (id(caller), caller.f_code)

    def close_abandoned(self, caller: FrameType) -> None:
        """Close everything if the outermost call is no longer running.

        PyTorch runs no hook of a module whose forward ends by KeyboardInterrupt or another
        exception that is no Exception, so that its range stays open. The next call of a patched
        root finds that the frame of the outermost call is gone.
        """
        *_, bottom = self.entries()
        if bottom[PASS] != OUTSIDE:
            return
        frame_id, code = self.bottom
        frame = caller.f_back
        while frame is not None:
            if id(frame) == frame_id and frame.f_code is code:
                return
            frame = frame.f_back
        self.close(bottom)
        self.mark_bottom(caller)


class _PassEnd:
    """Closes what a backward pass leaves open in one thread.

    Autograd calls it at the end of the pass. When the pass raises it is not called but freed,
    before the exception reaches Python.
    """

    __slots__ = ("_pass_id", "_state")

    def __init__(self, state: ThreadState, pass_id: int) -> None:
        self._pass_id = pass_id
        self._state = state

    def __call__(self) -> None:
        state, pass_id = self._state, self._pass_id
        if pass_id not in state.passes:
            return
        state.passes.discard(pass_id)
        # Ranges of a thread can be closed in that thread alone.
        if current_thread() is state:
            state.close_outermost(lambda entry: entry[PASS] == pass_id)

    __del__ = __call__


# `state` is the ThreadState of the thread; a thread that was not here yet has none.
threads = threading.local()


def begin_thread() -> ThreadState:
    """Make the state of the calling thread anew."""
    threads.state = state = ThreadState()
    return state


def current_thread() -> ThreadState:
    """Give the state of the calling thread; hooks look for themselves, since calls cost."""
    try:
        return threads.state  # type: ignore[no-any-return]
    except AttributeError:
        return begin_thread()


# The parent goes on with its ranges and will close them; the child's NVTX never opened them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_thread)
