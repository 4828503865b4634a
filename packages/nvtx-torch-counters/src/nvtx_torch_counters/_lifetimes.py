# SPDX-License-Identifier: Apache-2.0
"""What happens to samplers when the interpreter exits and when the process forks."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Protocol

_EXIT_TIMEOUT = 1.0


class Mortal(Protocol):
    """What is asked of a sampler."""

    def stop(self, timeout: float) -> None:
        """End what is running, waiting no longer than `timeout` seconds."""

    def after_fork(self) -> None:
        """Start over in a forked child."""


#: All samplers, and those that are running: these are kept, so that they can be stopped.
EVERY: weakref.WeakSet[Mortal] = weakref.WeakSet()
RUNNING: set[Mortal] = set()


def _stop_at_exit() -> None:
    for sampler in list(RUNNING):
        sampler.stop(_EXIT_TIMEOUT)


def _reset_in_child() -> None:
    RUNNING.clear()
    for sampler in list(EVERY):
        sampler.after_fork()


atexit.register(_stop_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)
