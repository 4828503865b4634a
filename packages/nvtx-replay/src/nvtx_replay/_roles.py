# SPDX-License-Identifier: Apache-2.0
"""The roles that the fields of an NVTX dtype play, read from its metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import nvtx
from nvtx import EntryKind, EventKind, PayloadEntryType

# nvtx has no public reader of its metadata, but every dtype that it makes shows the key.
_KEY = next(iter(nvtx.numpy_dtype(np.int64, entry_kind=EntryKind.MARK).metadata or {}))

COMPLETE_KINDS = (EventKind.MARK, EventKind.RANGE_PUSHPOP, EventKind.RANGE_STARTEND)


@dataclass(frozen=True)
class Roles:
    """Names of the fields with a role, or None."""

    begin: str | None = None  # a mark's time, a range's begin
    end: str | None = None
    message: str | None = None
    range_id: str | None = None
    scope: str | None = None
    counter_time: str | None = None


def roles_of(dtype: Any) -> Roles:
    """Return the roles of a structured dtype's fields."""
    found: dict[str, str] = {}
    for name in dtype.names or ():
        metadata = ((dtype.fields or {})[name][0].metadata or {}).get(_KEY)
        for meaning in (
            getattr(metadata, "entry_kind", None),
            getattr(metadata, "entry_type", None),
        ):
            role = _ROLES.get(meaning)
            if role is not None:
                found[role] = name
    return Roles(**found)


_ROLES: dict[Any, str] = {
    EntryKind.MARK: "begin",
    EntryKind.RANGE_BEGIN: "begin",
    EntryKind.RANGE_END: "end",
    EntryKind.MESSAGE: "message",
    EntryKind.COUNTER_TIMESTAMP: "counter_time",
    PayloadEntryType.RANGE_ID: "range_id",
    PayloadEntryType.SCOPE_ID: "scope",
}
