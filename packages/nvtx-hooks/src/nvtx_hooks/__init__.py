# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges around every module of a PyTorch model, forward and backward.

>>> import torch, nvtx_hooks
>>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))
>>> model = nvtx_hooks.patch(model)
>>> model(torch.ones(1, 4)).sum().backward()

Nothing about the model changes but that a tool sees what it is doing; without a tool nothing is
installed at all.
"""

from nvtx_hooks._api import patch, patched
from nvtx_hooks._patching import is_patched, unpatch
from nvtx_hooks._switch import disable, enable
from nvtx_hooks._version import __version__
from nvtx_hooks.errors import EmitterError, HooksError, OptionError

__all__ = [
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
