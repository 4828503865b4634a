# SPDX-License-Identifier: Apache-2.0
"""The public names, pinned."""

import inspect

import nvtx_hooks


def test_the_public_names_are_these():
    assert nvtx_hooks.__all__ == [
        "EmitterError",
        "HooksError",
        "OptionError",
        "__version__",
        "disable",
        "enable",
        "is_patched",
        "patch",
        "patched",
        "unpatch",
    ]
    assert all(hasattr(nvtx_hooks, name) for name in nvtx_hooks.__all__)


def test_patch_and_its_context_take_the_same_options():
    patch, patched = (inspect.signature(f) for f in (nvtx_hooks.patch, nvtx_hooks.patched))
    assert patch.parameters == patched.parameters
    assert (
        list(patch.parameters)
        == (
            "model name add_backward_hooks domain label recompute include exclude max_depth shapes "
            "emitter force"
        ).split()
    )


def test_every_error_has_one_root():
    for error in (nvtx_hooks.EmitterError, nvtx_hooks.OptionError):
        assert issubclass(error, nvtx_hooks.HooksError)
