# SPDX-License-Identifier: Apache-2.0
"""Ranges for torch.profiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch.autograd.profiler import record_function

from nvtx_hooks._phase import Phase
from nvtx_hooks._torch_state import is_tracing, profiler_runs


class RecordFunctionEmitter:
    """User annotations of torch.profiler; without a running profiler nothing is recorded."""

    # A profiler may start at any time.
    attached = True

    def prepare(self, text: str, phase: Phase, payload: Mapping[str, Any] | None = None) -> Any:
        """Take the text; annotations have no category, and their argument is not typed."""
        del phase, payload
        return text

    def push(self, prepared: str) -> Callable[[], None] | None:
        """Open an annotation where a profiler runs and no tracer would record the call itself."""
        if not profiler_runs() or is_tracing():
            return None
        opened = record_function(prepared)
        opened.__enter__()  # type: ignore[no-untyped-call]
        return partial(opened.__exit__, None, None, None)

    def pop(self) -> None:
        """Close what was not opened."""
