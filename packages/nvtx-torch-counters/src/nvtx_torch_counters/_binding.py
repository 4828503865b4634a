# SPDX-License-Identifier: Apache-2.0
"""The NVML binding: the module pynvml of nvidia-ml-py, initialised once a process."""

from __future__ import annotations

import os
import threading
from types import ModuleType
from typing import Any

from .errors import Unavailable

_INSTALL = "pip install nvtx-torch-counters[nvml] (nvidia-ml-py)"

_NEEDED = ("nvmlInit", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetUUID", "nvmlDeviceGetSamples")

#: Codes of nvml.h after which a later call may well succeed; all others end a probe.
_PASSING = frozenset((10, 19, 21, 23, 27, 999))  # timeout, in use, no data, resources, not ready

#: What NVML stores in unsigned fields that it has no value for.
NOT_AVAILABLE = frozenset((2**32 - 1, 2**64 - 1))


class _Process:
    """Which process initialised NVML: handles do not outlive a fork."""

    lock = threading.Lock()
    pid = 0


def binding() -> ModuleType:
    """Return pynvml with NVML initialised in this process; Unavailable says what is missing.

    The library stays initialised until the process ends: it is reference counted, and other
    users in the process may rely on it.
    """
    module = _imported()
    with _Process.lock:
        if _Process.pid != os.getpid():
            try:
                module.nvmlInit()
            except module.NVMLError as error:
                raise Unavailable(f"NVML cannot be used: {error}") from error
            _Process.pid = os.getpid()
    return module


def _imported() -> ModuleType:
    try:
        import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise Unavailable(f"there is no NVML binding; {_INSTALL}") from error
    except Exception as error:  # a deprecated binding warns, and warnings may be errors
        raise Unavailable(
            f"the NVML binding cannot be imported ({error}); pip uninstall pynvml, then {_INSTALL}"
        ) from error
    missing = [name for name in _NEEDED if not hasattr(pynvml, name)]
    if missing:
        raise Unavailable(
            f"the module pynvml at {pynvml.__file__} lacks {', '.join(missing)}: it is another or "
            f"an old binding; pip uninstall pynvml, then {_INSTALL}"
        )
    module: ModuleType = pynvml
    return module


def called(function: Any, *arguments: Any) -> Any:
    """Call a function of the binding; a passing failure is Unavailable, others go through."""
    try:
        return function(*arguments)
    except Exception as error:
        code = getattr(error, "value", None)
        if code in _PASSING:
            raise Unavailable(f"NVML: {error}") from error
        raise


def _reset_in_child() -> None:
    _Process.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)
