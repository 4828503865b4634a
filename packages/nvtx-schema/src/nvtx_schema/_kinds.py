# SPDX-License-Identifier: Apache-2.0
"""The event kinds, and which roles and special types each asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from nvtx import EntryKind, EventKind

KindName: TypeAlias = Literal[
    "mark", "pushpop", "startend", "push", "pop", "start", "end", "counter"
]


@dataclass(frozen=True)
class Kind:
    """What a kind of event or counter needs: from nvtx.writer's rules for event dtypes."""

    name: KindName
    event: EventKind | None
    times: tuple[EntryKind, ...]
    needs_range_id: bool = False


_BEGIN, _END = EntryKind.RANGE_BEGIN, EntryKind.RANGE_END

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("mark", EventKind.MARK, (EntryKind.MARK,)),
        Kind("pushpop", EventKind.RANGE_PUSHPOP, (_BEGIN, _END)),
        Kind("startend", EventKind.RANGE_STARTEND, (_BEGIN, _END)),
        Kind("push", EventKind.RANGE_PUSH, (_BEGIN,)),
        Kind("pop", EventKind.RANGE_POP, (_END,)),
        Kind("start", EventKind.RANGE_START, (_BEGIN,), needs_range_id=True),
        Kind("end", EventKind.RANGE_END, (_END,), needs_range_id=True),
        Kind("counter", None, ()),
    )
}

TIME_ROLES = (EntryKind.MARK, _BEGIN, _END, EntryKind.COUNTER_TIMESTAMP)

HELPER_OF_ROLE = {
    EntryKind.MARK: "mark_time()",
    EntryKind.RANGE_BEGIN: "range_begin()",
    EntryKind.RANGE_END: "range_end()",
    EntryKind.COUNTER_TIMESTAMP: "counter_timestamp()",
    EntryKind.MESSAGE: "message()",
}


def kind_of(spec: object) -> Kind | None:
    """Return the kind of a name or an nvtx.EventKind; None where there is none."""
    if isinstance(spec, EventKind):
        return next(kind for kind in KINDS.values() if kind.event is spec)
    return KINDS.get(spec) if isinstance(spec, str) else None
