# SPDX-License-Identifier: Apache-2.0
"""Patching a model and undoing it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import torch

from nvtx_hooks._emitters import emitter_for
from nvtx_hooks._forward import after_forward, before_forward
from nvtx_hooks._label import KEY, ModuleLabel, clean
from nvtx_hooks._options import Options
from nvtx_hooks._selection import Selection
from nvtx_hooks._stack import LABEL, current_thread
from nvtx_hooks._tree import Place, Tree, walk
from nvtx_hooks.errors import OptionError

ModuleT = TypeVar("ModuleT", bound=torch.nn.Module)
LabelRule: TypeAlias = str | Callable[[str, torch.nn.Module], str | None]

_logger = logging.getLogger("nvtx_hooks")
_PATHS_SHOWN = 5
# The names under which a module keeps its hooks and what it knows about them.
_HOOKS = {"_forward_pre_hooks": before_forward, "_forward_hooks": after_forward}
_FLAGS = {
    "_forward_pre_hooks": ("_forward_pre_hooks_with_kwargs",),
    "_forward_hooks": ("_forward_hooks_always_called",),
}


@dataclass(frozen=True)
class Patch:
    """One patching of a model: whom to patch, and as what."""

    options: Options
    selection: Selection
    label: LabelRule = "path"
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.label) and self.label not in ("child", "path"):
            raise OptionError(
                f"label is {self.label!r}; it must be 'path', 'child' or a function of "
                "(path, module)"
            )

    def install(self, model: torch.nn.Module) -> list[torch.nn.Module]:
        """Hook the modules that are selected and have no hooks of ours; return those."""
        tree = walk(model)
        _tell(tree)
        installed = []
        for place in tree.places:
            selected = self.selection.takes(place.path, place.depth, place.module)
            if selected and not _is_hooked(place.module):
                _hook(place.module, self._label(place))
                installed.append(place.module)
        return installed

    def _label(self, place: Place) -> ModuleLabel:
        aliases = tuple(clean(alias) for alias in place.aliases)
        text = clean(self._text(place))
        return ModuleLabel(text, self.options, aliases=aliases, root=not place.depth)

    def _text(self, place: Place) -> str:
        if callable(self.label):
            chosen = self.label(place.path, place.module)
            if chosen:
                return chosen
        kind = type(place.module).__name__
        name = place.name if self.label == "child" else place.path
        if not place.depth or self.label != "child":
            name = ".".join(filter(None, (self.name, name)))
        return f"{name}: {kind}" if name else kind


def install(model: torch.nn.Module, patch: Patch, *, force: bool) -> list[torch.nn.Module]:
    """Patch a model unless it is certain that nothing would receive its ranges.

    Raises
    ------
    TypeError
        The model is no torch.nn.Module.
    EmitterError
        The emitter cannot work with this build of PyTorch.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is a {type(model).__name__}; it must be a torch.nn.Module")
    emitter = emitter_for(patch.options.emitter, patch.options.domain)
    if not emitter.attached and not force:
        _logger.info(
            "no tool receives the NVTX domain %r, so %s is left as it is; start the program "
            "under a tool, or patch with force=True",
            patch.options.domain,
            type(model).__name__,
        )
        return []
    return patch.install(model)


def unpatch(model: ModuleT) -> ModuleT:
    """Remove everything that patching added to a model, and return the model.

    Afterwards each module is as it was before; hooks of others stay. Ranges of the model that
    the calling thread has open are closed; other threads should not be in a call of the model.
    A graph recorded before still shows its backward ranges when it is run later.

    Parameters
    ----------
    model : torch.nn.Module
        A patched model or a part of one; for any other nothing happens.
    """
    remove(list(model.modules()))
    return model


def is_patched(model: torch.nn.Module) -> bool:
    """Tell whether a model or any module in it is patched."""
    return any(_is_hooked(module) for module in model.modules())


@contextmanager
def removing(installed: list[torch.nn.Module]) -> Iterator[None]:
    """Remove at the end, also after an exception, what was installed."""
    try:
        yield
    finally:
        remove(installed)


def remove(modules: list[torch.nn.Module]) -> None:
    """Take our hooks and labels from some modules, and close their ranges in this thread."""
    labels = {module.__dict__[KEY] for module in modules if KEY in module.__dict__}
    for module in modules:
        _unhook(module)
    current_thread().close_outermost(lambda entry: entry[LABEL] in labels)


def _hook(module: torch.nn.Module, label: ModuleLabel) -> None:
    _unhook(module)  # hooks that were copied to it without a label would run beside the new ones
    state: dict[str, Any] = module.__dict__
    state[KEY] = label
    for hooks, hook in _HOOKS.items():
        state[hooks][KEY] = hook
        for flag in _FLAGS[hooks]:
            state[flag][KEY] = True


def _unhook(module: torch.nn.Module) -> None:
    state: dict[str, Any] = module.__dict__
    state.pop(KEY, None)
    for hooks, hook in _HOOKS.items():
        # By value: quantisation and others copy hooks to new modules under keys of their own.
        ours = [key for key, other in state.get(hooks, {}).items() if other is hook]
        for key in ours:
            del state[hooks][key]
            for flag in _FLAGS[hooks]:
                state[flag].pop(key, None)


def _is_hooked(module: torch.nn.Module) -> bool:
    return KEY in module.__dict__ and KEY in module.__dict__.get("_forward_pre_hooks", {})


def _tell(tree: Tree) -> None:
    _warn(tree.scripted, "TorchScript modules take no Python hooks")
    _warn(
        tree.fused,
        "hooks would switch off the fused path of these layers in evaluation mode, and change "
        "last bits of their results; call train() before patching to see them all the same",
    )
    _warn(
        tree.compiled,
        "modules compiled in place run without hooks; patch what torch.compile() returns",
    )


def _warn(paths: list[str], reason: str) -> None:
    if paths:
        shown = ", ".join(path or "the model itself" for path in paths[:_PATHS_SHOWN])
        more = len(paths) - _PATHS_SHOWN
        _logger.warning("no ranges in %s%s: %s", shown, f" and {more} more" * (more > 0), reason)
