# SPDX-License-Identifier: Apache-2.0
"""A field without its name: storage, role and meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from nvtx import CounterSemantics, EntryKind, PayloadEntryType, numpy_dtype

from ._storage import DType, Fault, Source, refused, scalar_storage

# nvtx has no public reader of its metadata, but every dtype that it makes shows the key.
_METADATA_KEY = next(iter(numpy_dtype(np.int64, entry_kind=EntryKind.MARK).metadata or {}))


@dataclass(frozen=True)
class Field:
    """A frozen, hashable description of one field, as the role helpers return it.

    Attributes
    ----------
    dtype : numpy.dtype
        The storage in native byte order, without NVTX metadata.
    role : nvtx.EntryKind or None
        The event role: a timestamp or the message.
    entry_type : nvtx.PayloadEntryType or None
        The special meaning of an integer: range id, category, color, scope or string handle.
    semantics : nvtx.CounterSemantics or None
        Unit, limits and interpolation.
    source : str
        What users hand over: ``"number"``, ``"text"``, ``"bytes"``, ``"bool"``,
        ``"datetime"``, ``"timedelta"``, ``"enum"``, ``"intenum"`` or ``"struct"``.
    labels : tuple of (str, int)
        The members of an Enum, with the values of an IntEnum.
    members : tuple of (str, int, Field)
        Name, offset in bytes and field of each member of a structure.
    """

    dtype: DType
    role: EntryKind | None = None
    entry_type: PayloadEntryType | None = None
    semantics: CounterSemantics | None = None
    source: Source = "number"
    labels: tuple[tuple[str, int], ...] = ()
    members: tuple[tuple[str, int, Field], ...] = ()
    faults: tuple[Fault, ...] = field(default=(), repr=False, compare=False)
    # CounterSemantics(min=0) equals CounterSemantics(min=0.0), yet NVTX is told different types.
    _limit_types: tuple[str, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        if self.semantics is not None:
            limits = (self.semantics.min, self.semantics.max)
            object.__setattr__(self, "_limit_types", tuple(type(x).__name__ for x in limits))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a fixed array in the field, ``()`` for one value."""
        return self.dtype.shape

    @property
    def base(self) -> DType:
        """The storage of one value."""
        return self.dtype.base

    @property
    def annotated(self) -> DType:
        """The storage with the metadata that nvtx reads."""
        dtype = self.dtype
        if self.members:
            inner = struct_dtype(self.members, self.base.itemsize)
            dtype = np.dtype((inner, self.shape)) if self.shape else inner
        annotated: DType = numpy_dtype(
            dtype,
            counter_semantics=self.semantics,
            entry_kind=self.role,
            entry_type=self.entry_type,
        )
        return annotated


def struct_dtype(members: tuple[tuple[str, int, Field], ...], itemsize: int) -> DType:
    """Return the annotated structured dtype of placed fields."""
    return np.dtype(
        {
            "names": [name for name, _, _ in members],
            "formats": [inner.annotated for _, _, inner in members],
            "offsets": [offset for _, offset, _ in members],
            "itemsize": itemsize,
        }
    )


def broken_field(found: str, remedy: str) -> Field:
    """Return a field that makes the schema refuse it with this fault."""
    storage = refused(found, remedy)
    return Field(storage.dtype, faults=storage.faults)


def field_of(spec: Any) -> Field:
    """Turn what users may write for a field into a Field; faults are kept in it, not raised."""
    if isinstance(spec, Field):
        return spec
    if isinstance(spec, type) and issubclass(spec, Enum):
        return _enum_field(spec)
    if spec is None:
        return broken_field("no dtype was given", "name one, such as numpy.int64")
    try:
        dtype = np.dtype(spec)
    except (TypeError, ValueError) as error:
        return broken_field(f"{spec!r} is not a dtype ({error})", "use a NumPy dtype or a helper")
    return field_of_dtype(dtype)


def field_of_dtype(dtype: DType) -> Field:
    """Return the field of a dtype, with the roles that nvtx.numpy_dtype put on it."""
    metadata = (dtype.metadata or {}).get(_METADATA_KEY)
    shape, base = dtype.shape, dtype.base
    if base.fields is not None:
        plain = _struct_field(base)
    else:
        storage = scalar_storage(base)
        plain = Field(storage.dtype, source=storage.source, faults=storage.faults)
    return Field(
        np.dtype((plain.dtype, shape)) if shape else plain.dtype,
        role=getattr(metadata, "entry_kind", None),
        entry_type=getattr(metadata, "entry_type", None),
        semantics=getattr(metadata, "counter_semantics", None),
        source=plain.source,
        members=plain.members,
        faults=plain.faults + tuple(_array_faults(plain, shape)),
    )


def _array_faults(plain: Field, shape: tuple[int, ...]) -> Iterator[Fault]:
    if 0 in shape:
        yield Fault(f"an array of shape {shape} holds nothing", "leave the field out")
    if shape and plain.source in ("text", "bytes"):
        # nvtx declares such a field as one long string.
        yield Fault("arrays of text cannot be described", "use one text(n) field an element")


def placed_dtypes(dtype: DType) -> Iterator[tuple[str, DType, int]]:
    """Yield name, dtype and offset of each member, once, whatever titles there are."""
    if dtype.names and dtype.fields:
        for name in dtype.names:
            yield name, dtype.fields[name][0], dtype.fields[name][1]


def _struct_field(dtype: DType) -> Field:
    members: list[tuple[str, int, Field]] = []
    faults: list[Fault] = []
    for name, inner_dtype, offset in placed_dtypes(dtype):
        inner = field_of_dtype(inner_dtype)
        members.append((name, offset, inner))
        faults += [Fault(f"in {name!r}, {fault.found}", fault.remedy) for fault in inner.faults]
    faults += struct_faults(members)
    storage = np.dtype(
        {
            "names": [name for name, _, _ in members],
            "formats": [inner.dtype for _, _, inner in members],
            "offsets": [offset for _, offset, _ in members],
            "itemsize": max([dtype.itemsize, *(o + f.dtype.itemsize for _, o, f in members)]),
        }
    )
    return Field(storage, source="struct", members=tuple(members), faults=tuple(faults))


def struct_faults(members: list[tuple[str, int, Field]]) -> Iterator[Fault]:
    """Yield what is wrong with the members of a structure inside a row."""
    if not members:
        yield Fault("a structure without fields", "leave the field out")
    for name, found, remedy in layout_faults(members):
        yield Fault(f"in {name!r}, {found}", remedy)
    for name, _, inner in members:
        if inner.role is not None:
            yield Fault(
                f"in {name!r}, the role {inner.role.name} stands inside a structure",
                "move it to the top level of the schema",
            )


def layout_faults(members: list[tuple[str, int, Field]]) -> Iterator[tuple[str, str, str]]:
    """Yield name, fault and remedy of names and offsets that cannot be sent as they are."""
    reached, owner = 0, ""
    for name, offset, inner in sorted(members, key=lambda member: member[1]):
        if offset < reached:
            remedy = "give every field bytes of its own"
            yield name, f"its bytes overlap those of {owner!r} (offset {offset})", remedy
        if offset + inner.dtype.itemsize > reached:
            reached, owner = offset + inner.dtype.itemsize, name
    for name, _, _ in members:
        yield from ((name, found, remedy) for found, remedy in name_faults(name))


def name_faults(name: Any) -> Iterator[tuple[str, str]]:
    """Yield fault and remedy of a name that NVTX, which takes C strings, would change."""
    if not isinstance(name, str):
        yield f"its name is a {type(name).__name__}", "name fields with str"
    elif not name:
        yield "its name is empty", "give it a name"
    elif "\0" in name:
        yield "its name contains a NUL, where NVTX would cut it", "remove the NUL"
    elif any("\ud800" <= letter <= "\udfff" for letter in name):
        yield "its name contains a lone surrogate, which has no UTF-8 form", "remove it"


def _enum_field(spec: type[Enum]) -> Field:
    members = spec.__members__.items()
    if not members:
        return broken_field(f"{spec.__name__} has no members", "add one")
    if not issubclass(spec, int):
        labels = tuple((name, 0) for name, member in members if member.name == name)
        return Field(
            np.dtype(np.uintp).newbyteorder("="),
            entry_type=PayloadEntryType.REGISTERED_STRING,
            source="enum",
            labels=labels,
        )
    numbers = tuple((name, int(member.value)) for name, member in members)
    if any(not -(2**63) <= number < 2**63 for _, number in numbers):
        return broken_field(f"{spec.__name__} has members beyond int64", "use smaller values")
    return Field(np.dtype(np.int64), source="intenum", labels=numbers)
