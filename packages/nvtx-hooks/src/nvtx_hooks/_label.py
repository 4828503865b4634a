# SPDX-License-Identifier: Apache-2.0
"""What a patched module carries: its name in the timeline and how to show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nvtx_hooks._emitters import emitter_for
from nvtx_hooks._options import Options
from nvtx_hooks._phase import Phase

# The one entry that patching adds to a module's `__dict__`.
KEY = "_nvtx_hooks_label"

_LONGEST = 1024
_CAPTURE = " [capture]"
_RECOMPUTE = " [recompute]"


class _Nothing:
    """Stands where a phase is not shown: None is what emitters without a tool prepare."""


NOT_SHOWN: Any = _Nothing()


class ModuleLabel:
    """The name of one module, prepared for each phase; immutable, so copies share it.

    What it holds of the emitter is made again where it is unpickled.

    Parameters
    ----------
    text : str
        The name of its ranges.
    options : Options
        How they look.
    aliases : tuple of str
        Further paths of the module; its forward ranges carry them as payload.
    root : bool
        Whether it is the module that the user patched.
    """

    __slots__ = (
        "_arguments",
        "_emitter",
        "aliases",
        "apart",
        "backward",
        "captured",
        "forward",
        "pop",
        "push",
        "recompute",
        "root",
        "shapes",
        "text",
    )

    def __init__(
        self, text: str, options: Options, *, aliases: tuple[str, ...] = (), root: bool = False
    ) -> None:
        self._arguments = (text, options, aliases, root)
        self.text = text
        self.root = root
        # Whether there is more to each call than opening and closing its range: shapes, or to ask
        # whether it is inside a backward pass.
        self.apart = root or not options.backward or options.shapes
        self.shapes = options.shapes
        self.aliases = aliases
        self._emitter = emitter = emitter_for(options.emitter, options.domain)
        self.push = emitter.push
        self.pop = emitter.pop
        self.forward: Any = self._prepare(Phase.FORWARD)
        self.captured: Any = self._prepare(Phase.FORWARD, _CAPTURE) if root else self.forward
        self.backward: Any = (
            emitter.prepare(text, Phase.BACKWARD) if options.backward else NOT_SHOWN
        )
        self.recompute: Any = (
            self._prepare(Phase.RECOMPUTE, _RECOMPUTE) if options.recompute == "mark" else NOT_SHOWN
        )

    def with_payload(self, shown: object, payload: Mapping[str, Any]) -> Any:
        """Prepare one of `forward`, `captured` and `recompute` again, for one call's payload."""
        if shown is self.recompute:
            return self._prepare(Phase.RECOMPUTE, _RECOMPUTE, payload)
        capturing = self.root and shown is self.captured
        return self._prepare(Phase.FORWARD, _CAPTURE if capturing else "", payload)

    def _prepare(
        self, phase: Phase, suffix: str = "", payload: Mapping[str, Any] | None = None
    ) -> Any:
        values = dict(payload or {})
        if self.aliases:
            values["aliases"] = ", ".join(self.aliases)
        return self._emitter.prepare(self.text + suffix, phase, values)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, self._arguments

    def __copy__(self) -> ModuleLabel:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> ModuleLabel:
        return self

    def __repr__(self) -> str:
        return f"ModuleLabel({self.text!r})"


def _restore(text: str, options: Options, aliases: tuple[str, ...], root: bool) -> ModuleLabel:
    return ModuleLabel(text, options, aliases=aliases, root=root)


def clean(text: str) -> str:
    """Make any text one that every NVTX tool can show.

    NVTX takes C strings: a NUL would end the name, and lone surrogates have no UTF-8.

    Parameters
    ----------
    text : str
        Any text. Names over 1,024 characters are cut, with an ellipsis at the end.
    """
    shown = text.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode()
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
