# SPDX-License-Identifier: Apache-2.0
"""Layouts that come from elsewhere: NumPy dtypes and ctypes structures."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from nvtx import EntryKind, PayloadEntryType

from ._field import Field, field_of_dtype, placed_dtypes
from ._storage import DType
from .errors import Problem, SchemaError

Role: TypeAlias = Field | EntryKind | PayloadEntryType


def structured(spec: Any) -> DType:
    """Return a structured dtype, or raise SchemaError where there is none."""
    try:
        dtype: DType = np.dtype(spec)
    except (TypeError, ValueError) as error:
        found = f"{spec!r} is not a dtype ({error})"
        raise SchemaError([Problem(None, found, "use a structured NumPy dtype")]) from None
    if dtype.names is None:
        found = f"dtype {dtype} has no named fields"
        raise SchemaError([Problem(None, found, "use a structured NumPy dtype")])
    return dtype


def ctypes_dtype(structure: Any) -> DType:
    """Return the dtype of a ctypes structure, with char arrays as text of fixed size."""
    if not (isinstance(structure, type) and issubclass(structure, ctypes.Structure)):
        found = f"{structure!r} is no ctypes.Structure class"
        raise SchemaError([Problem(None, found, "pass the class itself")])
    return _with_texts(structured(structure))


def _with_texts(dtype: DType) -> DType:
    if dtype.shape and dtype.base.str[1:] in ("S1", "U1") and len(dtype.shape) == 1:
        return np.dtype(f"{dtype.base.kind}{dtype.shape[0]}")
    if dtype.base.names is None:
        return dtype
    members = list(placed_dtypes(dtype.base))
    inner = np.dtype(
        {
            "names": [name for name, _, _ in members],
            "formats": [_with_texts(member) for _, member, _ in members],
            "offsets": [offset for _, _, offset in members],
            "itemsize": dtype.base.itemsize,
        }
    )
    return np.dtype((inner, dtype.shape)) if dtype.shape else inner


def fields_of(dtype: DType, roles: Mapping[str, Role]) -> list[tuple[str, Field]]:
    """Return the fields of a dtype with the roles that are given by name."""
    unknown = [name for name in roles if name not in (dtype.names or ())]
    if unknown:
        known = ", ".join(dtype.names or ())
        raise SchemaError(
            Problem(name, "roles= names it, but the dtype has no such field", f"use one of {known}")
            for name in unknown
        )
    problems: list[Problem] = []
    fields = []
    for name, member, _ in placed_dtypes(dtype):
        field = field_of_dtype(member)
        if name in roles:
            problems += _mismatch(name, field, roles[name])
            field = _with_role(field, roles[name])
        fields.append((name, field))
    if problems:
        raise SchemaError(problems)
    return fields


def _with_role(field: Field, role: Role) -> Field:
    if isinstance(role, EntryKind):
        return replace(field, role=role)
    if isinstance(role, PayloadEntryType):
        return replace(field, entry_type=role)
    return role


def _mismatch(name: str, field: Field, role: Role) -> Iterator[Problem]:
    if isinstance(role, Field) and role.dtype != field.dtype:
        found = f"the dtype stores {field.dtype}, the role {role.dtype}"
        yield Problem(name, found, "make them agree, or give the role alone (an nvtx.EntryKind)")
