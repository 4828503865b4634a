# SPDX-License-Identifier: Apache-2.0
"""A drop-in for the `autonvtx` module of NVIDIA NeMo Automodel.

The same names and labels; ranges come by NVTX's default domain, through torch.cuda.nvtx where
PyTorch has it and through the nvtx package elsewhere. Hooks are always installed. What differs
is that ranges are told apart by call and not by name, and that nothing is left on a module but
what `nvtx_hooks.unpatch` removes.
"""

from __future__ import annotations

from nvtx_hooks._emitters import torch_has_nvtx
from nvtx_hooks._options import Options
from nvtx_hooks._patching import ModuleT, Patch, install
from nvtx_hooks._selection import Selection
from nvtx_hooks._stack import CLOSE, LABEL, current_thread, unshown
from nvtx_hooks._stack import threads as _thread_local  # noqa: F401 - a name of the original's

__all__ = ["patch"]


def patch(model: ModuleT, name: str | None = None, add_backward_hooks: bool = True) -> ModuleT:
    """Put a range around every module of a model, labelled ``child: Class``.

    Parameters
    ----------
    model : torch.nn.Module
        The model, changed in place; `nvtx_hooks.unpatch` undoes it.
    name : str, optional
        The model's own name; by default its class alone is its label.
    add_backward_hooks : bool
        Whether modules get ranges in the backward pass.

    Returns
    -------
    torch.nn.Module
        The model itself.
    """
    what = Patch(_options(add_backward_hooks), Selection(), "child", name)
    install(model, what, force=True)
    return model


def _add_nvtx_hooks(model: ModuleT, name: str, add_backward_hooks: bool = True) -> None:
    """Put ranges of a given label around one module alone."""
    what = Patch(_options(add_backward_hooks), Selection(max_depth=0), lambda _, __: name)
    install(model, what, force=True)


def _get_active_ranges() -> set[str]:
    """The labels that are open in the calling thread now."""
    entries = current_thread().entries()
    return {entry[LABEL].text for entry in entries if entry[CLOSE] is not unshown}


def _options(backward: bool) -> Options:
    emitter = "torch" if torch_has_nvtx() else "nvtx"
    return Options(domain=None, emitter=emitter, backward=backward)
