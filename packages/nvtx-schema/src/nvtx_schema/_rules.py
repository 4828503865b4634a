# SPDX-License-Identifier: Apache-2.0
"""The rules that the fields of a schema keep, checked with no backend."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from nvtx import EntryKind, PayloadEntryType

from ._field import Field, layout_faults
from ._kinds import HELPER_OF_ROLE, TIME_ROLES, Kind
from .errors import Problem

_HANDLE = f"u{np.dtype(np.uintp).itemsize}"

# The storage that NVTX's special types have in C.
_STORED_AS = {
    PayloadEntryType.RANGE_ID: "u8",
    PayloadEntryType.CATEGORY: "u4",
    PayloadEntryType.COLOR_ARGB: "u4",
    PayloadEntryType.SCOPE_ID: "u8",
    PayloadEntryType.REGISTERED_STRING: _HANDLE,
}


def schema_problems(kind: Kind | None, members: list[tuple[str, int, Field]]) -> Iterator[Problem]:
    """Yield every fault of a schema, field by field, then the roles that are missing.

    Without a known kind only the fields themselves are judged.
    """
    layout = list(layout_faults(members))
    for name, _, field in members:
        for fault in field.faults:
            yield Problem(name, fault.found, fault.remedy)
        for found, remedy in _field_faults(kind, field):
            yield Problem(name, found, remedy)
        yield from (Problem(n, found, remedy) for n, found, remedy in layout if n is name)
    if not members:
        yield Problem(None, "there are no fields", "name at least one")
    if kind is None or not members:
        return
    if kind.event is None and all(f.role is not None for _, _, f in members):
        yield Problem(None, "a counter needs a value", "add a field for it")
    yield from _role_problems(kind, members)
    yield from _range_id_problems(kind, members)


def _field_faults(kind: Kind | None, field: Field) -> Iterator[tuple[str, str]]:
    if field.faults:
        return
    if field.source == "number" and field.base.kind not in "iuf":
        yield f"a Field of {field.dtype} was made without its source", "use value() or text()"
    if field.role in TIME_ROLES:
        yield from _time_faults(field)
    if field.role is EntryKind.MESSAGE:
        yield from _message_faults(field)
    if field.entry_type is not None:
        yield from _special_faults(field)
    if kind is not None and kind.event is None and field.role is None:
        yield from _counter_faults(field)


def _time_faults(field: Field) -> Iterator[tuple[str, str]]:
    role = field.role.name if field.role else ""
    if field.dtype.str[1:] not in ("i8", "u8"):
        yield f"{role} is stored as {field.dtype}, not as 64-bit integer", "use numpy.int64"
    if field.entry_type is not None:
        found = f"{role} cannot also be a {field.entry_type.name}"
        yield found, "use one field for each"


def _message_faults(field: Field) -> Iterator[tuple[str, str]]:
    handle = field.entry_type is PayloadEntryType.REGISTERED_STRING
    if field.source == "bytes":
        yield "bytes are not sent as text, so they cannot be a message", "use message(n)"
    elif not handle and field.source != "text":
        yield f"a message cannot be a {field.dtype}", "use message(n) or message('registered')"


def _special_faults(field: Field) -> Iterator[tuple[str, str]]:
    if field.entry_type is None:
        return
    expected = np.dtype(_STORED_AS[field.entry_type])
    if field.dtype.str != expected.str:
        found = f"{field.entry_type.name} is stored as {field.dtype}, not as {expected}"
        yield found, f"use numpy.{expected}"


def _counter_faults(field: Field) -> Iterator[tuple[str, str]]:
    if field.shape or field.source == "struct":
        yield "a counter group is flat", "use one field for each value"
    elif field.entry_type is not None:
        yield f"a {field.entry_type.name} is not a counter value", "leave it out"
    elif field.source in ("text", "bytes"):
        yield "text is not a counter value", "leave it out or use a number"


def _role_problems(kind: Kind, members: list[tuple[str, int, Field]]) -> Iterator[Problem]:
    for role in (*TIME_ROLES, EntryKind.MESSAGE):
        names = [name for name, _, field in members if field.role is role]
        helper = HELPER_OF_ROLE[role]
        optional = role is EntryKind.MESSAGE and kind.event is not None
        optional = optional or (role is EntryKind.COUNTER_TIMESTAMP and kind.event is None)
        if role in kind.times and not names:
            found = f"kind {kind.name!r} needs a {role.name} field"
            yield Problem(None, found, f"add one made by {helper}")
        elif names and role not in kind.times and not optional:
            for name in names:
                found = f"{role.name} has no place in kind {kind.name!r}"
                yield Problem(name, found, f"remove it or use a plain dtype instead of {helper}")
        else:
            for name in names[1:]:
                found = f"{names[0]!r} already has the role {role.name}"
                yield Problem(name, found, "keep one of them")


def _range_id_problems(kind: Kind, members: list[tuple[str, int, Field]]) -> Iterator[Problem]:
    kept = [n for n, _, f in members if f.entry_type is PayloadEntryType.RANGE_ID]
    if kind.needs_range_id and not kept:
        found = f"kind {kind.name!r} needs a RANGE_ID field"
        yield Problem(None, found, "add one made by range_id()")
    for name in kept[1:] if kind.needs_range_id else kept:
        if kind.needs_range_id:
            yield Problem(name, f"{kept[0]!r} already is the RANGE_ID", "keep one of them")
        elif kind.event is not None:
            found = f"RANGE_ID has no place in kind {kind.name!r}"
            yield Problem(name, found, "use numpy.uint64 for a plain identifier")
