# SPDX-License-Identifier: Apache-2.0
"""What a user may ask of an import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ImportOptions:
    """Options of an import; an importer ignores those that its format has no use for.

    Parameters
    ----------
    unit : {"us", "ns", "ms", "s"}
        What the input's times count, where its format leaves room for doubt.
    on_error : {"repair", "skip", "raise"}
        What happens to an event that is not as the format says.
    clip_ns : int
        Cut back ranges that outlive their parent by at most this many nanoseconds; 0 cuts none.
    domain : str or None
        The NVTX domain of what is written; by default the input's name up to its first dot.
    """

    unit: Literal["us", "ns", "ms", "s"] = "us"
    on_error: Literal["repair", "skip", "raise"] = "repair"
    clip_ns: int = 0
    domain: str | None = None
