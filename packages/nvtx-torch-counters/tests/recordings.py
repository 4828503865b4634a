# SPDX-License-Identifier: Apache-2.0
"""Reading what the recording injection or backend wrote down."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: NVTX_PAYLOAD_ENTRY_TYPE_INT64 and _FLOAT64, with their struct letters.
_LETTERS = {17: "q", 44: "d"}


@dataclass
class Recorded:
    """One counter: how it was registered, and its samples as (time, row or reason)."""

    name: str
    fields: dict[str, dict[str, Any]]
    time_domain: int | None
    description: str | None
    samples: list[tuple[int, Any]] = field(default_factory=list)
    batches: int = 0


def counters(path: Path) -> dict[str, Recorded]:
    """Return the counters of a recording by name."""
    schemas: dict[int, list[dict[str, Any]]] = {}
    by_id: dict[int, Recorded] = {}
    for line in path.read_text().splitlines():
        call = json.loads(line)
        match call["call"]:
            case "schema":
                schemas[call["id"]] = call["fields"]
            case "counter":
                fields = {entry["name"]: entry for entry in schemas[call["schema"]]}
                described = call.get("description")
                by_id[call["id"]] = Recorded(
                    call["name"], fields, call.get("time_domain"), described
                )
            case "batch":
                _add_batch(by_id[call["counter"]], call)
            case "no_value":
                by_id[call["counter"]].samples.append((call["time"], call["reason"]))
    assert len({counter.name for counter in by_id.values()}) == len(by_id)
    return {counter.name: counter for counter in by_id.values()}


def _add_batch(counter: Recorded, call: dict[str, Any]) -> None:
    layout = "=" + "".join(_LETTERS[entry["type"]] for entry in counter.fields.values())
    rows = list(struct.iter_unpack(layout, bytes.fromhex(call["data"])))
    assert len(rows) == len(call["times"])
    counter.samples += zip(call["times"], rows, strict=True)
    counter.batches += 1
