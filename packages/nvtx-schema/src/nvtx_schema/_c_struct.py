# SPDX-License-Identifier: Apache-2.0
"""The C declaration of a row, for producers that fill the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._field import Field

if TYPE_CHECKING:
    from ._schema import Schema

_TYPES = {
    "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t",
    "u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t",
    "f2": "uint16_t", "f4": "float", "f8": "double",
}  # fmt: skip

_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while bool true false nullptr class new delete this".split()
)


def declaration(schema: Schema, name: str) -> str:
    """Return C11 text: the structure, every gap named, and a check of its size."""
    members = [(key, schema.offsets[key], field) for key, field in schema.fields.items()]
    lines = ["#include <assert.h>", "#include <stdint.h>", "", "#pragma pack(push, 1)"]
    lines.append(f"struct {name} {{")
    lines += _lines(members, schema.itemsize, "    ")
    lines += ["};", "#pragma pack(pop)"]
    lines.append(f'static_assert(sizeof(struct {name}) == {schema.itemsize}, "layout");')
    return "\n".join(lines) + "\n"


def _lines(members: list[tuple[str, int, Field]], size: int, indent: str) -> Iterator[str]:
    taken: set[str] = set()
    reached = gaps = 0
    for name, offset, field in sorted(members, key=lambda member: member[1]):
        if offset > reached:
            yield f"{indent}uint8_t padding_{gaps}_[{offset - reached}];"
            gaps += 1
        yield from _member(_identifier(name, taken), name, field, indent)
        reached = offset + field.dtype.itemsize
    if size > reached:
        yield f"{indent}uint8_t padding_{gaps}_[{size - reached}];"


def _member(identifier: str, name: str, field: Field, indent: str) -> Iterator[str]:
    dimensions = "".join(f"[{length}]" for length in field.shape)
    if field.members:
        yield f"{indent}struct {{"
        yield from _lines(list(field.members), field.base.itemsize, indent + "    ")
        yield f"{indent}}} {identifier}{dimensions};{_comment(identifier, name, '')}"
        return
    code = field.base.str[1:]
    note = {"f2": "float16", "datetime": "ns since 1970 UTC", "timedelta": "ns"}
    remark = note.get(code) or note.get(field.source, "")
    if field.source == "text":
        kind, dimensions, remark = "uint32_t", f"[{field.base.itemsize // 4}]", "UTF-32"
    elif field.source == "bytes":
        kind, dimensions = "char", f"[{field.base.itemsize}]"
    else:
        kind = _TYPES[code]
    yield f"{indent}{kind} {identifier}{dimensions};{_comment(identifier, name, remark)}"


def _comment(identifier: str, name: str, remark: str) -> str:
    shown = "" if identifier == name else ascii(name).replace("*/", "*\\/")
    text = ", ".join(part for part in (shown, remark) if part)
    return f" /* {text} */" if text else ""


def _identifier(name: str, taken: set[str]) -> str:
    """Return a C identifier near a name, different from those already taken."""
    stem = re.sub(r"[^0-9A-Za-z_]", "_", name)
    if stem[0].isdigit() or stem in _KEYWORDS:
        stem = f"_{stem}"
    chosen, number = stem, 2
    while chosen in taken:
        chosen, number = f"{stem}_{number}", number + 1
    taken.add(chosen)
    return chosen
