# SPDX-License-Identifier: Apache-2.0
"""What users call to patch a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nvtx_hooks._options import Options
from nvtx_hooks._patching import LabelRule, ModuleT, Patch, install, removing
from nvtx_hooks._selection import Rules, Selection


def patch(  # noqa: PLR0913 - its options are what users type
    model: ModuleT,
    name: str | None = None,
    add_backward_hooks: bool = True,
    *,
    domain: str | None = "torch.nn",
    label: LabelRule = "path",
    recompute: str = "skip",
    include: Rules = None,
    exclude: Rules = None,
    max_depth: int | None = None,
    shapes: bool = False,
    emitter: str = "nvtx",
    force: bool = False,
) -> ModuleT:
    """Put a range around every module of a model, forward and backward.

    Ranges belong to the thread that does the work and are always balanced: after exceptions,
    under activation checkpointing, in partial and repeated backward passes. What the model
    computes, its type, signature, state dict, pickles, copies and compiled graphs stay as they
    are. Modules that are patched already keep their first options.

    Parameters
    ----------
    model : torch.nn.Module
        The model, changed in place; see `unpatch`.
    name : str, optional
        The model's name, put before every path; by default paths begin below the model.
    add_backward_hooks : bool
        Whether modules get ranges in the backward pass. A range begins when the gradient reaches
        the module's outputs and ends when it reaches its inputs, when the next module's begins,
        or with the pass.
    domain : str or None
        The NVTX domain; None is the default one, which holds everybody's ranges.
    label : "path", "child" or callable
        ``layers.0.attn: Attention``, ``attn: Attention``, or a function of (path, module) that
        answers a text; None or an empty one stands for the path. NUL becomes a visible sign, and
        texts over 1,024 characters are cut.
    recompute : "skip" or "mark"
        Whether forward inside a backward pass, as checkpointing has it, is shown: as
        ``layers.0: Block [recompute]``.
    include, exclude : str, type, callable or iterable of these, optional
        Patterns of paths as in `fnmatch`, module classes, or functions of (path, module); one
        must hold. Children of an excluded module are judged by themselves.
    max_depth : int, optional
        The deepest level; the model itself is at 0.
    shapes : bool
        Whether forward ranges carry the shapes and dtypes of their arguments as a payload; needs
        NumPy and costs some microseconds a call.
    emitter : "nvtx", "torch" or "record_function"
        The nvtx package, torch.cuda.nvtx, or annotations of torch.profiler. The last two know
        neither domain, category, color nor payload.
    force : bool
        Install also where it is certain that no tool receives the ranges. Otherwise nothing is
        installed then, one message is logged at INFO, and a later call tries again.

    Returns
    -------
    torch.nn.Module
        The model itself.

    Raises
    ------
    TypeError
        The model is no torch.nn.Module.
    OptionError
        An option has a value that it cannot have.
    EmitterError
        This build of PyTorch has no NVTX and emitter="torch" was asked for.
    """
    what = Patch(
        Options(domain, emitter, recompute, add_backward_hooks, shapes),
        Selection(include, exclude, max_depth),
        label,
        name,
    )
    install(model, what, force=force)
    return model


@contextmanager
def patched(  # noqa: PLR0913 - as patch
    model: ModuleT,
    name: str | None = None,
    add_backward_hooks: bool = True,
    *,
    domain: str | None = "torch.nn",
    label: LabelRule = "path",
    recompute: str = "skip",
    include: Rules = None,
    exclude: Rules = None,
    max_depth: int | None = None,
    shapes: bool = False,
    emitter: str = "nvtx",
    force: bool = False,
) -> Iterator[ModuleT]:
    """Patch a model for the time of a with block.

    At the end, also after an exception, the modules that this call patched are as they were;
    those patched before stay patched.

    Parameters
    ----------
    model : torch.nn.Module
        The model, which the block gets as its target.
    name, add_backward_hooks, domain, label, recompute, include, exclude, max_depth, shapes, \
emitter, force
        As in `patch`, which also tells the errors.
    """
    what = Patch(
        Options(domain, emitter, recompute, add_backward_hooks, shapes),
        Selection(include, exclude, max_depth),
        label,
        name,
    )
    with removing(install(model, what, force=force)):
        yield model
