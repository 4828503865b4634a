# SPDX-License-Identifier: Apache-2.0
"""The run-time switch of the whole process."""

from __future__ import annotations


class _Switch:
    __slots__ = ("on",)

    def __init__(self) -> None:
        self.on = True


switch = _Switch()


def enable() -> None:
    """Let patched modules open ranges again, in every thread, from their next call on."""
    switch.on = True


def disable() -> None:
    """Let patched modules open no more ranges, in any thread.

    Ranges that are open are closed when their time comes, so that balance holds. A forked child
    inherits the switch as it stands.
    """
    switch.on = False
