# SPDX-License-Identifier: Apache-2.0
"""Which modules of a model are patched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias

import torch

from nvtx_hooks.errors import OptionError

Rule: TypeAlias = str | type[torch.nn.Module] | Callable[[str, torch.nn.Module], bool]
"""A pattern of paths, a class of modules, or a predicate of path and module."""

Rules: TypeAlias = Rule | Iterable[Rule] | None
"""Rules of which one must hold; None where nothing is asked."""


@dataclass(frozen=True)
class Selection:
    """The rules that a module must meet.

    Parameters
    ----------
    include : Rules
        What a module must match; None takes all.
    exclude : Rules
        What it must not match. Its children are judged by themselves.
    max_depth : int or None
        The deepest level; the model itself is at 0.

    Raises
    ------
    OptionError
        A rule is of no known kind, or the depth is negative.
    """

    include: Rules = None
    exclude: Rules = None
    max_depth: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "include", _rules("include", self.include))
        object.__setattr__(self, "exclude", _rules("exclude", self.exclude))
        if self.max_depth is not None and self.max_depth < 0:
            raise OptionError(f"max_depth is {self.max_depth}; it must be 0 or more, or None")

    def takes(self, path: str, depth: int, module: torch.nn.Module) -> bool:
        """Tell whether a module at a path is patched."""
        if self.max_depth is not None and depth > self.max_depth:
            return False
        if _matches(self.exclude, path, module):
            return False
        return self.include is None or _matches(self.include, path, module)


def _rules(option: str, given: Rules) -> tuple[Rule, ...] | None:
    if given is None:
        return None
    single = isinstance(given, (str, type)) or callable(given)
    rules: tuple[Rule, ...] = (given,) if single else tuple(given)  # type: ignore[arg-type, assignment]
    for rule in rules:
        if not isinstance(rule, (str, type)) and not callable(rule):
            raise OptionError(
                f"{option} holds {rule!r}; it takes patterns of module paths such as "
                "'layers.*.attn', module classes and functions of (path, module)"
            )
    return rules


def _matches(rules: Rules, path: str, module: torch.nn.Module) -> bool:
    return any(_holds(rule, path, module) for rule in rules or ())  # type: ignore[union-attr]


def _holds(rule: Rule, path: str, module: torch.nn.Module) -> bool:
    if isinstance(rule, str):
        return fnmatchcase(path, rule)
    if isinstance(rule, type):
        return isinstance(module, rule)
    return bool(rule(path, module))
