# SPDX-License-Identifier: Apache-2.0
"""Schemas as JSON text: every field with its storage, place, role and meaning."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from nvtx import (
    CounterInterpolation,
    CounterSemantics,
    CounterValueType,
    EntryKind,
    PayloadEntryType,
)

from ._field import Field, struct_faults
from ._storage import scalar_storage
from .errors import Problem, SchemaError

if TYPE_CHECKING:
    from ._schema import Schema

VERSION = 1
_Member = tuple[str, int, Field]


def dump(schema: Schema) -> str:
    """Return a schema as JSON."""
    document = {
        "nvtx_schema": VERSION,
        "kind": schema.kind_name,
        "itemsize": schema.itemsize,
        "fields": [
            _member((name, schema.offsets[name], field)) for name, field in schema.fields.items()
        ],
    }
    return json.dumps(document, indent=1)


def _member(member: _Member) -> dict[str, Any]:
    name, offset, field = member
    entry: dict[str, Any] = {"name": name, "offset": offset, "source": field.source}
    entry["storage"] = field.base.itemsize if field.members else field.base.str
    if field.shape:
        entry["shape"] = list(field.shape)
    if field.role is not None:
        entry["role"] = field.role.name
    if field.entry_type is not None:
        entry["entry_type"] = field.entry_type.name
    if field.semantics is not None:
        entry["semantics"] = _semantics(field.semantics)
    if field.labels:
        entry["labels"] = dict(field.labels)
    if field.members:
        entry["members"] = [_member(inner) for inner in field.members]
    return entry


def _semantics(semantics: CounterSemantics) -> dict[str, Any]:
    return {
        "unit": semantics.unit.decode() if semantics.unit else None,
        "min": semantics.min,
        "max": semantics.max,
        "scale": [semantics.unit_scale_numerator, semantics.unit_scale_denominator],
        "value_type": semantics.value_type.name,
        "interpolation": semantics.interpolation.name,
    }


def load(text: str | bytes) -> tuple[str, list[_Member], int]:
    """Return kind, placed fields and row size from JSON; raises SchemaError."""
    try:
        document = json.loads(text)
        if document["nvtx_schema"] != VERSION:
            found = f"the document has version {document['nvtx_schema']!r}, not {VERSION}"
            raise SchemaError([Problem(None, found, "use a newer nvtx-schema")])
        members = [_loaded(entry) for entry in document["fields"]]
        return str(document["kind"]), members, int(document["itemsize"])
    except SchemaError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        found = f"this is no schema document ({type(error).__name__}: {error})"
        raise SchemaError([Problem(None, found, "pass what to_json() returned")]) from None


def _loaded(entry: dict[str, Any]) -> _Member:
    plain = _struct_field(entry) if "members" in entry else _plain_field(entry)
    shape = tuple(entry.get("shape", ()))
    field = replace(
        plain,
        dtype=np.dtype((plain.dtype, shape)) if shape else plain.dtype,
        role=EntryKind[entry["role"]] if "role" in entry else None,
        entry_type=PayloadEntryType[entry["entry_type"]] if "entry_type" in entry else None,
        semantics=_loaded_semantics(entry["semantics"]) if "semantics" in entry else None,
        labels=tuple(entry.get("labels", {}).items()),
    )
    return str(entry["name"]), int(entry["offset"]), field


# Which storage each source has, by the code of its dtype.
_STORAGE = {"bool": ("u1",), "datetime": ("i8",), "timedelta": ("i8",), "intenum": ("i8",)}


def _plain_field(entry: dict[str, Any]) -> Field:
    storage = scalar_storage(np.dtype(entry["storage"]))
    source = entry["source"]
    code = storage.dtype.str[1:]
    derived = source in _STORAGE and code in _STORAGE[source]
    derived = derived or (source == "enum" and code == np.dtype(np.uintp).str[1:])
    if source != storage.source and not derived:
        raise ValueError(f"{source!r} values are not stored as {storage.dtype}")
    return Field(storage.dtype, source=source, faults=storage.faults)


def _struct_field(entry: dict[str, Any]) -> Field:
    members = [_loaded(inner) for inner in entry["members"]]
    faults = [fault for _, _, inner in members for fault in inner.faults]
    return Field(
        _struct(tuple(members), entry["storage"]),
        source="struct",
        members=tuple(members),
        faults=(*faults, *struct_faults(members)),
    )


def _struct(members: tuple[_Member, ...], itemsize: int) -> np.dtype[Any]:
    return np.dtype(
        {
            "names": [name for name, _, _ in members],
            "formats": [field.dtype for _, _, field in members],
            "offsets": [offset for _, offset, _ in members],
            "itemsize": itemsize,
        }
    )


def _loaded_semantics(entry: dict[str, Any]) -> CounterSemantics:
    numerator, denominator = entry["scale"]
    return CounterSemantics(
        unit=entry["unit"],
        min=entry["min"],
        max=entry["max"],
        unit_scale_numerator=numerator,
        unit_scale_denominator=denominator,
        value_type=CounterValueType[entry["value_type"]],
        interpolation=CounterInterpolation[entry["interpolation"]],
    )
