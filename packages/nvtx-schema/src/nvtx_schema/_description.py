# SPDX-License-Identifier: Apache-2.0
"""A schema's layout as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._field import Field

if TYPE_CHECKING:
    from ._schema import Schema

_HEAD = ("offset", "size", "name", "stored as", "is")


def table(schema: Schema) -> str:
    """Return one line a field: offset and size in bytes, name, storage, meaning."""
    rows = [_HEAD]
    for name, field in schema.fields.items():
        rows += _rows(name, schema.offsets[name], field)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [f"{schema.kind_name}, {schema.itemsize} bytes a row"]
    for offset, size, *words in rows:
        cells = [offset.rjust(widths[0]), size.rjust(widths[1])]
        cells += [word.ljust(width) for word, width in zip(words, widths[2:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _rows(name: str, offset: int, field: Field) -> list[tuple[str, str, str, str, str]]:
    storage = "struct" if field.members else field.base.name
    if field.source == "text":
        storage = f"UTF-32, {field.base.itemsize // 4} code points"
    elif field.source == "bytes":
        storage = f"{field.base.itemsize} bytes"
    if field.shape:
        storage += "".join(f"[{length}]" for length in field.shape)
    rows = [(str(offset), str(field.dtype.itemsize), name, storage, _meaning(field))]
    for inner, place, member in field.members:
        rows += _rows(f"{name}.{inner}", offset + place, member)
    return rows


def _meaning(field: Field) -> str:
    parts = []
    if field.role is not None:
        parts.append(field.role.name)
    if field.entry_type is not None:
        parts.append(field.entry_type.name)
    if field.source not in ("number", "text", "bytes", "struct"):
        parts.append(field.source)
    if field.labels:
        parts.append("/".join(name for name, _ in field.labels))
    if field.semantics is not None:
        unit = field.semantics.unit
        parts += [unit.decode()] if unit else []
        limits = (field.semantics.min, field.semantics.max)
        if limits != (None, None):
            parts.append("{} to {}".format(*("" if x is None else x for x in limits)).strip())
    return ", ".join(parts)
