# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while a model is patched; nothing is raised while it runs."""

from __future__ import annotations


class HooksError(Exception):
    """The root of every error that this package raises."""


class OptionError(HooksError, ValueError):
    """An option of `nvtx_hooks.patch` has a value that it cannot have."""


class EmitterError(HooksError, RuntimeError):
    """The chosen emitter cannot work with this build of PyTorch or without a missing package."""
