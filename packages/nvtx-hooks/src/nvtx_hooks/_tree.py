# SPDX-License-Identifier: Apache-2.0
"""The modules of a model, each once, with every path that leads to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass
class Place:
    """A module and where it stands.

    Attributes
    ----------
    module : torch.nn.Module
        The module.
    path : str
        Its first path from the root, whose own is empty.
    name : str
        Its name in its parent; empty for the root.
    depth : int
        How far below the root.
    aliases : list of str
        Its further paths.
    """

    module: torch.nn.Module
    path: str
    name: str
    depth: int
    aliases: list[str] = field(default_factory=list)


@dataclass
class Tree:
    """What a walk over a model found.

    Attributes
    ----------
    places : list of Place
        The modules that can be patched, parents first.
    scripted : list of str
        Paths of TorchScript modules: they take no Python hooks.
    fused : list of str
        Paths of layers that compute otherwise, and so slightly else, when a module in them has
        hooks: torch.nn.TransformerEncoderLayer in evaluation mode.
    compiled : list of str
        Paths of modules compiled in place: their hooks are compiled away with them.
    """

    places: list[Place] = field(default_factory=list)
    scripted: list[str] = field(default_factory=list)
    fused: list[str] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)


def walk(root: torch.nn.Module) -> Tree:
    """Visit a model's modules once each; cycles and sharing are no trouble."""
    tree = Tree()
    seen: dict[int, Place] = {}
    pending = [Place(root, "", "", 0)]
    while pending:
        place = pending.pop()
        first = seen.setdefault(id(place.module), place)
        if first is not place:
            first.aliases.append(place.path)
        elif _sort(place, tree):
            children = place.module.__dict__["_modules"].items()
            pending += [
                _child(place, *child) for child in reversed(children) if child[1] is not None
            ]
    return tree


def _child(parent: Place, name: str, module: torch.nn.Module) -> Place:
    path = f"{parent.path}.{name}" if parent.path else name
    return Place(module, path, name, parent.depth + 1)


def _sort(place: Place, tree: Tree) -> bool:
    """Put a module where it belongs, and tell whether its children are to be visited."""
    module = place.module
    if isinstance(module, torch.jit.ScriptModule):
        tree.scripted.append(place.path)
        return False
    if isinstance(module, torch.nn.TransformerEncoderLayer) and not module.training:
        tree.fused.append(place.path)
        return False
    if module.__dict__.get("_compiled_call_impl") is not None:
        tree.compiled.append(place.path)
    tree.places.append(place)
    # What is inside runs compiled, without hooks.
    return not isinstance(module, _optimized_module())


def _optimized_module() -> Any:
    """The class of what torch.compile returns; none where the compiler was never imported."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    return getattr(frames, "OptimizedModule", ())
