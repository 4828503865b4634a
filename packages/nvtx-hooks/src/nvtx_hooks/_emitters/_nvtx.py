# SPDX-License-Identifier: Apache-2.0
"""Ranges by the nvtx package, in a domain of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import nvtx

from nvtx_hooks._emitters._record import has_numpy, record
from nvtx_hooks._phase import Phase


class NvtxEmitter:
    """Push/pop ranges with a registered name, a category and a color.

    Parameters
    ----------
    domain : str or None
        The NVTX domain; None is the default one. Making it is the process's first NVTX call
        where nothing made one before: NVTX decides there, for good, whether a tool is attached.
    """

    def __init__(self, domain: str | None) -> None:
        self._domain = nvtx.get_domain(domain)
        # nvtx gives a stand-in of another class for a domain that no tool wants.
        self.attached = isinstance(self._domain, nvtx.Domain)
        self.push = self._domain.push_range
        self.pop = self._domain.pop_range

    def prepare(self, text: str, phase: Phase, payload: Mapping[str, Any] | None = None) -> Any:
        """Make the event attributes; the text is registered in the domain once.

        A payload needs NumPy, and is left out without it.
        """
        return self._domain.get_event_attributes(
            message=text,
            color=phase.color,
            category=phase.value,
            payload=record(payload) if payload and self.attached and has_numpy() else None,
        )
