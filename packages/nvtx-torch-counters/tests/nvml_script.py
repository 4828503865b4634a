# SPDX-License-Identifier: Apache-2.0
"""The fake NVML, loaded by the real binding, and the words in which tests script it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

ALWAYS = 2**32 - 1

NOT_SUPPORTED, NO_PERMISSION, TIMEOUT, GPU_IS_LOST = 3, 4, 10, 15

GPU = [f"GPU-{n}0000000-1111-2222-3333-444444444444" for n in range(4)]
MIG = [f"MIG-{n}a000000-5555-6666-7777-888888888888" for n in range(3)]

_Delay = ctypes.CFUNCTYPE(None, ctypes.c_uint)


class NvmlScript:
    """Scripts the fake: its devices, and what calls answer."""

    def __init__(self, path: Path) -> None:
        # The library's soname is that of the real one: the binding, which asks for that name,
        # gets the library that is loaded under it already.
        self.library = ctypes.CDLL(str(path))
        self._callback = _Delay(lambda microseconds: None)
        self.reset()

    def reset(self, on_delay: Callable[[int], None] | None = None) -> None:
        """Forget all devices, rules and counts; `on_delay` is told of delays in microseconds."""
        self._callback = _Delay(on_delay or (lambda microseconds: None))
        self.library.script_reset(self._callback)

    def board(self, uuid: str, model: str = "NVIDIA H200", *, mig: bool = False) -> int:
        return int(self.library.script_board(uuid.encode(), model.encode(), int(mig)))

    def instance(self, board: int, uuid: str) -> int:
        return int(self.library.script_instance(board, uuid.encode()))

    def memory(self, device: int, total: int, used: int) -> None:
        self.library.script_memory(device, ctypes.c_uint64(total), ctypes.c_uint64(used))

    def value(self, device: int, which: int, value: int) -> None:
        self.library.script_value(device, which, value)

    def error(
        self, function: str, code: int, *, uuid: str = "", first: int = 1, last: int = ALWAYS
    ) -> None:
        self.library.script_error(
            function.encode(), uuid.encode(), code, ctypes.c_uint(first), ctypes.c_uint(last)
        )

    def delay(
        self, function: str, microseconds: int, *, first: int = 1, last: int = ALWAYS
    ) -> None:
        self.library.script_delay(
            function.encode(), microseconds, ctypes.c_uint(first), ctypes.c_uint(last)
        )

    def sample(self, stamp_us: int, percent: int) -> None:
        self.library.script_sample(ctypes.c_ulonglong(stamp_us), percent)

    def calls(self, function: str, uuid: str = "") -> int:
        return int(self.library.script_calls(function.encode(), uuid.encode()))
