# SPDX-License-Identifier: Apache-2.0
"""
Generate a C program that calls every member of the NVTXW interface with hostile arguments.

``python abi_cells.py OUT.c`` writes it. The program takes the path of the library, runs every cell
(member x argument x value), compares the result code and prints how many cells there were.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from abi_values import (
    ARGUMENTS,
    HANDLES,
    INVALID,
    MEMBERS,
    STRUCT_SETUP,
    STRUCTS,
    SUCCESS,
)

PREFIX = Path(__file__).with_name("abi_fixture.c")


def cell(member: str, what: str, expected: int, arguments: list[str], setup: str = "") -> str:
    """Give the C of one call and its comparison."""
    if "&a" not in arguments:
        setup = ""
    call = f"F->{member}({', '.join(arguments)})"
    label = f"{member}: {what}".replace("\\", "\\\\").replace('"', '\\"')
    return f'  CHECK("{label}", {expected}, ({{ {setup} {call}; }}));'


def good(arguments: list[str]) -> tuple[list[str], str]:
    """Give the arguments with structs replaced by pointers to good ones, and their C setup."""
    setup = []
    passed = []
    for argument in arguments:
        if argument in STRUCTS:
            kind = STRUCTS[argument][0]
            setup.append(f"{kind} a = good_{argument}();")
            passed.append("&a")
        else:
            passed.append(
                {"session": "SESSION", "domain": "DOMAIN", "stream": "STREAM"}.get(
                    argument, argument
                )
            )
    return passed, " ".join(setup)


def handle_cells(member: str, arguments: list[str]) -> Iterator[str]:
    passed, setup = good(arguments)
    for wrong in HANDLES.get(arguments[0], []):
        cast = f"(void*)({wrong})" if wrong != "NULL" else wrong
        yield cell(member, f"{arguments[0]} is {wrong}", INVALID, [cast, *passed[1:]], setup)


def argument_cells(member: str, arguments: list[str]) -> Iterator[str]:
    passed, setup = good(arguments)
    for (owner, at), values in ARGUMENTS.items():
        if owner != member:
            continue
        for value, expected in values:
            changed = [*passed[:at], value, *passed[at + 1 :]]
            yield cell(member, f"argument {at} is {value}", expected, changed, setup)


def struct_cells(member: str, arguments: list[str]) -> Iterator[str]:
    for at, argument in enumerate(arguments):
        if argument not in STRUCTS:
            continue
        passed, setup = good(arguments)
        if argument not in ("payload", "domain_attributes"):
            null = [*passed[:at], "NULL", *passed[at + 1 :]]
            yield cell(member, f"{argument} is NULL", INVALID, null)
        _, fields = STRUCTS[argument]
        for field, values in fields.items():
            extra = STRUCT_SETUP.get((argument, field), "")
            for value, expected in values:
                change = f"{setup} {extra} a.{field} = {value};"
                yield cell(member, f"{argument}.{field} = {value}", expected, passed, change)


def entry_cells() -> Iterator[str]:
    """Give the cells of a schema whose second entry is hostile."""
    _, fields = STRUCTS["schema_entry"]
    for field, values in fields.items():
        for value, expected in values:
            setup = (
                "nvtxPayloadSchemaAttr_t a = good_schema_attributes();"
                "nvtxPayloadSchemaEntry_t e[2]; memcpy(e, a.entries, sizeof(e)); a.entries = e;"
                f" e[1].{field} = {value};"
            )
            what = f"entry.{field} = {value}"
            yield cell("SchemaRegister", what, expected, ["DOMAIN", "&a", "&new_id"], setup)


def huge_count_cells() -> Iterator[str]:
    """Give the cells of counts without the arrays they count."""
    yield cell("EventWrite", "SIZE_MAX payloads at NULL", INVALID, ["STREAM", "NULL", "SIZE_MAX"])
    table = ["STREAM", "time_domain", "REALTIME", "NULL"]
    yield cell("TimeSyncPointTableWrite", "SIZE_MAX at NULL", INVALID, [*table, "SIZE_MAX"])
    yield cell("TimeSyncPointTableWrite", "none at NULL", SUCCESS, [*table, "0"])
    optional = ["DOMAIN", "&a", "NULL"]
    for member, kind, name, mask in (
        ("ScopeRegister", "nvtxScopeAttr_t", "scope", "a.scopeId"),
        ("CounterRegister", "nvtxCounterAttr_t", "counter", "a.counterId"),
        ("TimeDomainRegister", "nvtxTimeDomainAttr_t", "time_domain", "a.timeDomainId"),
    ):
        setup = f"{kind} a = good_{name}_attributes(); {mask} = static_id();"
        yield cell(member, "a static id needs no place to go", SUCCESS, optional, setup)
    yield cell("DomainRegister", "no attributes", SUCCESS, ["SESSION", "NULL", "&new_domain"])


def cells() -> list[str]:
    """Give every cell, those that end things last."""
    each = (
        itertools.chain(handle_cells(m, a), argument_cells(m, a), struct_cells(m, a))
        for m, a in MEMBERS.items()
    )
    return [*itertools.chain.from_iterable(each), *entry_cells(), *huge_count_cells()]


def program() -> str:
    """Give the whole C program."""
    body = "\n".join(cells())
    return f"{PREFIX.read_text()}\nstatic void run_cells(void) {{\n{body}\n}}\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(program())
