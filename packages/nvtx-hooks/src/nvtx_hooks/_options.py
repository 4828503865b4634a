# SPDX-License-Identifier: Apache-2.0
"""What the ranges of a patched module look like; fixed when it is patched."""

from __future__ import annotations

from dataclasses import dataclass

from nvtx_hooks._emitters import EMITTERS, has_numpy
from nvtx_hooks.errors import OptionError

_RECOMPUTE = ("mark", "skip")


@dataclass(frozen=True)
class Options:
    """The options of `nvtx_hooks.patch` that hold while the model runs.

    Raises
    ------
    OptionError
        A value is none of those allowed.
    """

    domain: str | None = "torch.nn"
    emitter: str = "nvtx"
    recompute: str = "skip"
    backward: bool = True
    shapes: bool = False

    def __post_init__(self) -> None:
        _one_of("emitter", self.emitter, EMITTERS)
        _one_of("recompute", self.recompute, _RECOMPUTE)
        if self.shapes and self.emitter != "nvtx":
            raise OptionError(
                f"shapes=True needs emitter='nvtx', not {self.emitter!r}: only NVTX has payloads"
            )
        if self.shapes and not has_numpy():
            raise OptionError("shapes=True needs NumPy for its payloads; install numpy")


def _one_of(option: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        names = " or ".join(map(repr, allowed))
        raise OptionError(f"{option} is {value!r}; it must be {names}")
