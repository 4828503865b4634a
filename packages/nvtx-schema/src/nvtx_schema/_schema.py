# SPDX-License-Identifier: Apache-2.0
"""The schema: named, placed fields of one kind of event or counter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from nvtx import EntryKind, EventKind

from ._c_struct import declaration
from ._description import table
from ._field import Field, field_of, placed_dtypes, struct_dtype
from ._foreign import Role, ctypes_dtype, fields_of, structured
from ._json import dump, load
from ._kinds import KINDS, KindName, kind_of
from ._pack import pack_rows
from ._reading import columns_of_rows, reapplied
from ._rules import schema_problems
from ._storage import DType
from .errors import Problem, SchemaError

_Members = tuple[tuple[str, int, Field], ...]


@dataclass(frozen=True, init=False, repr=False)
class Schema:
    """A checked, frozen and hashable description of the rows of one kind.

    Parameters
    ----------
    kind : str or nvtx.EventKind
        ``"mark"``, ``"pushpop"``, ``"startend"``, ``"push"``, ``"pop"``, ``"start"``, ``"end"``
        or ``"counter"``.
    fields : mapping of str, or iterable of (str, field) pairs
        Each field is what a role helper returned, a NumPy dtype or an Enum class.
    align : bool
        Place the fields as a C compiler would; otherwise one right after the other.
    offsets : sequence of int, optional
        Where each field begins in a row, in bytes, instead.
    itemsize : int, optional
        Bytes of a row, padding included; only with ``offsets``.

    Raises
    ------
    SchemaError
        If anything is wrong, with every fault in ``problems``.

    Notes
    -----
    A schema holds no NVTX object: it may be built before a session, shared between
    threads and processes, pickled, and used as a key.

    Examples
    --------
    >>> import numpy as np, nvtx_schema as nvs
    >>> step = nvs.Schema("mark", {"time": nvs.mark_time(), "loss": np.float32})
    >>> step.dtype.itemsize
    12
    """

    kind_name: KindName
    _members: _Members = field()
    itemsize: int

    def __init__(
        self,
        kind: KindName | EventKind,
        fields: Mapping[str, Any] | Iterable[tuple[str, Any]],
        *,
        align: bool = False,
        offsets: Sequence[int] | None = None,
        itemsize: int | None = None,
    ) -> None:
        pairs = list(fields.items() if isinstance(fields, Mapping) else fields)
        named = [(name, field_of(spec)) for name, spec in pairs]
        if offsets is None:
            self._settle(kind, *_placed(named, align))
        else:
            self._settle(kind, *_placed_at(named, offsets, itemsize))

    @classmethod
    def from_dtype(
        cls, kind: KindName | EventKind, dtype: Any, roles: Mapping[str, Role] | None = None
    ) -> Schema:
        """Describe rows of an existing structured dtype, layout and padding included.

        Parameters
        ----------
        kind
            As for the class.
        dtype : dtype-like
            Titles are dropped; roles put on by ``nvtx.numpy_dtype`` are kept.
        roles : mapping, optional
            Field name to what a role helper returned, an ``nvtx.EntryKind`` or an
            ``nvtx.PayloadEntryType``.

        Raises
        ------
        SchemaError
            If the dtype cannot be sent or a role does not fit its storage.

        Examples
        --------
        >>> plain = np.dtype([("t", "i8"), ("loss", "f4")], align=True)
        >>> Schema.from_dtype("mark", plain, {"t": EntryKind.MARK}).itemsize
        16
        """
        layout = structured(dtype)
        offsets = [offset for _, _, offset in placed_dtypes(layout)]
        fields = fields_of(layout, roles or {})
        return cls(kind, fields, offsets=offsets, itemsize=layout.itemsize)

    @classmethod
    def from_ctypes(
        cls, kind: KindName | EventKind, structure: Any, roles: Mapping[str, Role] | None = None
    ) -> Schema:
        """Describe rows of a ``ctypes.Structure`` class; char arrays become bytes fields.

        Parameters and errors are those of :meth:`from_dtype`.
        """
        return cls.from_dtype(kind, ctypes_dtype(structure), roles)

    @classmethod
    def from_json(cls, text: str | bytes) -> Schema:
        """Return the schema that :meth:`to_json` wrote; raises SchemaError for anything else."""
        kind, members, itemsize = load(text)
        fields = [(name, inner) for name, _, inner in members]
        offsets = [offset for _, offset, _ in members]
        return cls(cast("KindName", kind), fields, offsets=offsets, itemsize=itemsize)

    def _settle(self, kind: object, members: _Members, itemsize: int) -> None:
        known = kind_of(kind)
        problems = [] if known else [_unknown_kind(kind)]
        problems += _duplicate_names(members)
        problems += schema_problems(known, list(members))
        if problems or known is None:
            raise SchemaError(problems)
        object.__setattr__(self, "kind_name", known.name)
        object.__setattr__(self, "_members", members)
        object.__setattr__(self, "itemsize", itemsize)

    @property
    def kind(self) -> EventKind | None:
        """The kind for ``Domain.get_schema(dtype, kind=)``; None for counters."""
        return KINDS[self.kind_name].event

    @cached_property
    def dtype(self) -> DType:
        """The NumPy dtype with the metadata that nvtx reads.

        Pass it to ``nvtx.writer.Domain.get_schema`` or ``get_counter``. NumPy drops the
        metadata in ``astype`` and ``np.save`` and ignores it in ``==``.
        """
        return struct_dtype(self._members, self.itemsize)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(name for name, _, _ in self._members)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name, in order."""
        return MappingProxyType({name: inner for name, _, inner in self._members})

    @property
    def offsets(self) -> Mapping[str, int]:
        """Where each field begins in a row, in bytes."""
        return MappingProxyType({name: offset for name, offset, _ in self._members})

    def field_with_role(self, role: EntryKind) -> str | None:
        """Return the name of the field with a role, None where there is none."""
        return next((name for name, _, inner in self._members if inner.role is role), None)

    def pack(
        self,
        rows: Any = None,
        /,
        *,
        domain: Any = None,
        truncate: bool | Iterable[str] = False,
        casting: str = "exact",
        order: str = "sorted",
        naive: str = "refuse",
        **columns: Any,
    ) -> np.ndarray[Any, Any]:
        """Turn columns into rows of ``dtype``, changing no value silently.

        Parameters
        ----------
        rows : dict, numpy.ndarray, pandas.DataFrame, Arrow table or Polars frame, optional
            The columns by field name. A structured array in the layout of ``dtype`` is
            checked and viewed, not copied.
        domain : nvtx.writer.Domain, optional
            Where text for handle and category fields is registered, each distinct text once,
            and only after all else was found to be in order.
        truncate : bool or iterable of str
            Cut text and bytes that are too long: in all fields, or in those named.
        casting : {"exact", "same_kind", "unsafe"}
            ``exact``: every stored value equals the given one, and no float column enters an
            integer field. ``same_kind``: numbers may be rounded to a float field's
            precision. ``unsafe``: floats are also cut to integers, integers wrap. NaN never
            becomes an integer, and a float never silently becomes infinite.
        order : {"sorted", "sort", "any"}
            Refuse rows not in ascending order of their first timestamp, sort them (stable),
            or leave them as they are. Sorted rows are what ``write_event_batch`` promises.
        naive : {"refuse", "utc"}
            What to do with dates that carry no time zone: refuse them or take them as UTC.
        **columns
            Further columns, one value a row, or one value for all rows. A field named like one
            of the options goes into a dict.

        Returns
        -------
        numpy.ndarray
            One-dimensional, of ``dtype``; new memory, or a view of ``rows``.

        Raises
        ------
        PackError
            With every faulty column, and the rows at fault, in ``problems``.
        """
        options = {"truncate": truncate, "casting": casting, "order": order, "naive": naive}
        return pack_rows(self, (rows, columns), domain, options)

    def unpack(self, data: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Return the columns of packed rows: of bytes, or of an array of this layout.

        Truth values, dates and durations get their NumPy types back; handles and
        identifiers stay numbers. Raises PackError if the data are not whole rows.
        """
        return columns_of_rows(self, data)

    def reapply(self, dtype: Any) -> DType:
        """Return :attr:`dtype`, roles included, for an equal layout that lost them.

        NumPy drops them in ``astype`` and ``np.save``: ``rows.view(schema.reapply(rows.dtype))``.
        Raises SchemaError if the layouts differ.
        """
        return reapplied(self, dtype)

    def to_json(self) -> str:
        """Return the schema as JSON text, for :meth:`from_json`."""
        return dump(self)

    def as_c_struct(self, name: str = "row") -> str:
        """Return the C11 declaration of a row, with every gap and a check of its size."""
        return declaration(self, name)

    def describe(self) -> str:
        """Return the layout as a table: offset, size, name, storage and meaning."""
        return table(self)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}: {inner.dtype}" for name, _, inner in self._members)
        return f"<Schema {self.kind_name} {{{fields}}}, {self.itemsize} bytes>"


def _placed(fields: list[tuple[str, Field]], align: bool) -> tuple[_Members, int]:
    members, offset, widest = [], 0, 1
    for name, inner in fields:
        alignment = inner.dtype.alignment if align else 1
        widest = max(widest, alignment)
        offset += -offset % alignment
        members.append((name, offset, inner))
        offset += inner.dtype.itemsize
    return tuple(members), offset + -offset % widest


def _placed_at(
    fields: list[tuple[str, Field]], offsets: Sequence[int], itemsize: int | None
) -> tuple[_Members, int]:
    if len(offsets) != len(fields) or any(offset < 0 for offset in offsets):
        found = f"offsets= has {list(offsets)} for {len(fields)} fields"
        raise SchemaError([Problem(None, found, "give each field one offset from 0 on")])
    members = tuple((name, int(at), f) for (name, f), at in zip(fields, offsets, strict=True))
    needed = max((offset + inner.dtype.itemsize for _, offset, inner in members), default=0)
    if itemsize is not None and itemsize < needed:
        found = f"itemsize={itemsize} is less than the {needed} bytes of the fields"
        raise SchemaError([Problem(None, found, "leave it out or correct it")])
    return members, needed if itemsize is None else itemsize


def _unknown_kind(kind: object) -> Problem:
    return Problem(None, f"{kind!r} is no kind of schema", f"use one of {', '.join(KINDS)}")


def _duplicate_names(members: _Members) -> list[Problem]:
    names = [name for name, _, _ in members]
    return [
        Problem(name, "two fields have this name", "rename one of them")
        for index, name in enumerate(names)
        if name in names[:index]
    ]
