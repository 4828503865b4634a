# SPDX-License-Identifier: Apache-2.0
"""
A program that writes one session in rounds, to be killed in any of them.

``python -m support.victim OUTPUT PAGE ROUNDS``: behind every round it notes in the mapped file
PAGE how many rounds are done and how many records of whole runs its spill file holds, and writes
a byte to its standard output. After ROUNDS rounds it exits, which ends the session.
"""

from __future__ import annotations

import mmap
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import nvtx
import nvtx_perfetto
from nvtx.writer import Domain, Session, Stream, StreamOrdering, load_backend

from support import spill

NOTES = struct.Struct("<2Q")
MOST_ROUNDS = 24
# In the order they are opened, which numbers them.
STREAMS = ("closed", "ordered", "shuffled", "linked", "halves", "starts", "counters")
CLOSED = 400  # written once; all others a round
ORDERED, SHUFFLED, LINKED, HALVES, STARTS, SAMPLES = 500, 1_500, 600, 600, 600, 1_500
NAMES = tuple(f"name {number}" for number in range(16))
UNSORTED = nvtx.BatchOrdering.UNSORTED


def _role(kind: nvtx.EntryKind) -> Any:
    return nvtx.numpy_dtype(np.int64, entry_kind=kind)


_BEGIN, _END = _role(nvtx.EntryKind.RANGE_BEGIN), _role(nvtx.EntryKind.RANGE_END)
_NAME = nvtx.numpy_dtype(
    np.uint64,
    entry_kind=nvtx.EntryKind.MESSAGE,
    entry_type=nvtx.PayloadEntryType.REGISTERED_STRING,
)
_CATEGORY = nvtx.numpy_dtype(np.uint32, entry_type=nvtx.PayloadEntryType.CATEGORY)
_ID = nvtx.numpy_dtype(np.uint64, entry_type=nvtx.PayloadEntryType.RANGE_ID)
_ATTRIBUTES = [("name", _NAME), ("category", _CATEGORY), ("number", np.int64)]
RANGE = np.dtype([("begin", _BEGIN), ("end", _END), *_ATTRIBUTES])
LINK = np.dtype(
    [
        *(("begin", _BEGIN), ("end", _END), *_ATTRIBUTES),
        *(("nvtx.flow_out", np.uint64), ("nvtx.flow_in", np.uint64)),
    ]
)
PUSH, POP = np.dtype([("begin", _BEGIN), *_ATTRIBUTES]), np.dtype([("end", _END)])
START, STOP = (
    np.dtype([("begin", _BEGIN), ("id", _ID), *_ATTRIBUTES]),
    np.dtype([("end", _END), ("id", _ID)]),
)
KINDS = {
    "range": (RANGE, nvtx.EventKind.RANGE_PUSHPOP),
    "link": (LINK, nvtx.EventKind.RANGE_PUSHPOP),
    "push": (PUSH, nvtx.EventKind.RANGE_PUSH),
    "pop": (POP, nvtx.EventKind.RANGE_POP),
    "start": (START, nvtx.EventKind.RANGE_START),
    "stop": (STOP, nvtx.EventKind.RANGE_END),
}


class Victim:
    """The session, its streams and what has been written so far."""

    def __init__(self, output: Path) -> None:
        self.output = output
        backend = load_backend(nvtx_perfetto.library_path())
        self.session = Session("killed", backend=backend, config=f"output={output}\nmemory=256K")
        self.session.begin()
        domain = self.session.get_domain("victim")
        handles = [domain.get_registered_string(name).handle for name in NAMES]
        self.names = np.array(handles, np.uint64)
        self.odd = domain.get_category_id("odd")
        self.schemas = {
            name: domain.get_schema(dtype, kind=kind) for name, (dtype, kind) in KINDS.items()
        }
        self.counters = [
            domain.get_counter("level", int),
            domain.get_counter(
                "steps",
                int,
                semantics=nvtx.CounterSemantics(value_type=nvtx.CounterValueType.DELTA),
            ),
        ]
        self.streams = {name: self._open(name, domain) for name in STREAMS}
        self.order = {
            name: np.random.default_rng(len(name)).permutation(count * MOST_ROUNDS)
            for name, count in (
                *(("shuffled", SHUFFLED), ("linked", LINKED), ("halves", HALVES)),
                *(("starts", STARTS), ("counters", SAMPLES)),
            )
        }

    def _open(self, name: str, domain: Domain) -> Stream:
        ordering = StreamOrdering.STRICT if name == "ordered" else StreamOrdering.UNKNOWN
        stream = self.session.create_stream(name, domain=domain, ordering=ordering)
        stream.open()
        return stream

    def rounds(self, count: int) -> Iterator[int]:
        """Write a round for each number given."""
        closed = np.random.default_rng(0).permutation(CLOSED)
        self._write("closed", "range", self._attributes(nested(closed), closed))
        self.streams["closed"].close()
        for number in range(count):
            self._round(number)
            yield number + 1

    def _round(self, number: int) -> None:
        ordered = np.arange(number * ORDERED, (number + 1) * ORDERED)
        rows = self._attributes(flat(ordered), ordered)
        self.streams["ordered"].write_event_batch(self.schemas["range"], rows)
        part = {
            name: order[number * (size := len(order) // MOST_ROUNDS) : (number + 1) * size]
            for name, order in self.order.items()
        }
        self._write(
            "shuffled", "range", self._attributes(nested(part["shuffled"]), part["shuffled"])
        )
        self._write("linked", "link", self._attributes(linked(part["linked"]), part["linked"]))
        pushes, pops = halves(part["halves"])
        self._write_each("halves", "pop", pops)
        self._write_each("halves", "push", self._attributes(pushes, part["halves"]))
        starts, stops = crossing(part["starts"])
        self._write_each("halves", "stop", stops)
        self._write_each("starts", "start", self._attributes(starts, part["starts"]))
        for counter in self.counters:
            self.streams["counters"].write_counter_batch(
                counter,
                part["counters"] % 100,
                timestamps=part["counters"] * 7,
                ordering=UNSORTED,
            )

    def _write(self, stream: str, kind: str, rows: Any) -> None:
        self.streams[stream].write_event_batch(self.schemas[kind], rows, ordering=UNSORTED)

    def _write_each(self, stream: str, kind: str, rows: Any) -> None:
        for row in rows.tolist():
            self.streams[stream].write_event(self.schemas[kind], row)

    def _attributes(self, rows: Any, numbers: Any) -> Any:
        rows["name"] = self.names[numbers % len(NAMES)]
        rows["category"] = np.where(numbers % 2, self.odd, 0)
        rows["number"] = numbers
        return rows


def flat(numbers: Any) -> Any:
    """Give ranges one after the other."""
    rows = np.zeros(len(numbers), RANGE)
    rows["begin"], rows["end"] = numbers * 10, numbers * 10 + 7
    return rows


def nested(numbers: Any) -> Any:
    """Give groups of four ranges, one in the other."""
    rows = np.zeros(len(numbers), RANGE)
    group, level = numbers // 4, numbers % 4
    rows["begin"], rows["end"] = group * 100 + level * 10, group * 100 + 90 - level * 10
    return rows


def linked(numbers: Any) -> Any:
    """Give pairs of ranges, the first of which has an arrow to the second."""
    rows = np.zeros(len(numbers), LINK)
    pair, second = numbers // 2, numbers % 2
    rows["begin"] = pair * 100 + second * 50
    rows["end"] = rows["begin"] + 20
    rows["nvtx.flow_out"], rows["nvtx.flow_in"] = (pair + 1) * (1 - second), (pair + 1) * second
    return rows


def halves(numbers: Any) -> tuple[Any, Any]:
    """Give a push and a pop each, pairs of which nest."""
    pushes, pops = np.zeros(len(numbers), PUSH), np.zeros(len(numbers), POP)
    pair, inner = numbers // 2, numbers % 2
    pushes["begin"], pops["end"] = pair * 100 + inner * 10, pair * 100 + 90 - inner * 10
    return pushes, pops


def crossing(numbers: Any) -> tuple[Any, Any]:
    """Give a start and an end each, which cross."""
    starts, stops = np.zeros(len(numbers), START), np.zeros(len(numbers), STOP)
    starts["begin"], stops["end"] = numbers * 100, numbers * 100 + 250
    starts["id"] = stops["id"] = numbers + 1
    return starts, stops


def main(output: str, page: str, rounds: str) -> None:
    """Write until the end, or until somebody else makes one."""
    with Path(page).open("r+b") as file, mmap.mmap(file.fileno(), NOTES.size) as notes:
        victim = Victim(Path(output))
        for done in victim.rounds(int(rounds)):
            spills = Path(output).parent.glob(f"{Path(output).name}.*.spill")
            NOTES.pack_into(notes, 0, done, sum(map(spill.whole_records, spills)))
            sys.stdout.write(".")
            sys.stdout.flush()
        # An open session ends when its process exits.


if __name__ == "__main__":
    main(*sys.argv[1:])
