# SPDX-License-Identifier: Apache-2.0
"""Asking a source for probes until it fails, and remembering why there are none."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ._series import text_of
from .probe import Probe, ProbeSource

logger = logging.getLogger("nvtx_torch_counters")


class Search:
    """One source of probes, asked again and again; an exception ends it.

    What is not sampled is told once, as is the exception.
    """

    def __init__(self, source: ProbeSource) -> None:
        self.source = source
        self._failed: str | None = None
        self._told: set[str] = set()

    @property
    def waited_for(self) -> str:
        """The reason for the gap before a probe from here joined."""
        return f"{self.source.name} was not in use yet"

    def reopen(self) -> None:
        """Search again at a new start."""
        self._failed = None

    def found(self) -> Sequence[Probe]:
        """Return new probes."""
        if self._failed is not None:
            return ()
        try:
            probes = self.source.discover()
        except Exception as error:  # noqa: BLE001 - sources are other people's code
            self._failed = f"the search ended: {text_of(error)}"
            logger.warning("%s: %s", self.source.name, self._failed)
            return ()
        self._tell()
        return probes

    def _tell(self) -> None:
        for name, why in self.source.reasons.items():
            if name not in self._told:
                self._told.add(name)
                logger.info("%s is not sampled: %s", name, why)

    def reasons(self) -> dict[str, str]:
        """Return what is not measured, and why."""
        reasons = dict(self.source.reasons)
        if self._failed is not None:
            reasons[self.source.name] = self._failed
        return reasons
