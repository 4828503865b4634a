# SPDX-License-Identifier: Apache-2.0
"""How fast do nested ranges get into a trace, in order and shuffled?"""

from __future__ import annotations

from typing import Any

import numpy as np
import nvtx
from measuring import Contender, compare, report
from nested_ranges import FIELDS, name, nested_rows, register
from nvtx.writer import Session, StreamOrdering
from outputs import FOLDER, Write, to_nothing, to_perfetto
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

ROWS = 2_000_000
FEW = 20_000  # what a builder in Python gets through in the same time


def writer(order: Any, stream_ordering: StreamOrdering, batch: nvtx.BatchOrdering) -> Write:
    """Give a function that writes the rows, in an order, as one batch."""
    rows = nested_rows(order)
    names = rows[FIELDS[2]].copy()

    def write(session: Session) -> None:
        domain = session.get_domain("bench")
        schema = register(domain)
        name(rows, names, domain)
        with session.create_stream("s", domain=domain, ordering=stream_ordering) as stream:
            stream.write_event_batch(schema, rows, ordering=batch)

    return write


def build_with_peer() -> int:
    """Write the same ranges, fewer of them, with Perfetto's own Python builder."""
    path = FOLDER / "peer.pftrace"
    with path.open("wb") as file:
        builder = StreamingTraceProtoBuilder(file)
        packet = builder.create_packet()
        packet.track_descriptor.uuid, packet.track_descriptor.name = 1, "s"
        builder.write_packet(packet)
        for number in range(FEW):
            for kind, at in ((TrackEvent.TYPE_SLICE_BEGIN, 0), (TrackEvent.TYPE_SLICE_END, 900)):
                packet = builder.create_packet()
                packet.timestamp = number * 1_000 + at
                packet.trusted_packet_sequence_id = 1
                packet.track_event.type, packet.track_event.track_uuid = kind, 1
                if kind == TrackEvent.TYPE_SLICE_BEGIN:
                    packet.track_event.name = f"operation {number % 64}"
                builder.write_packet(packet)
    return path.stat().st_size


def main() -> None:
    in_order = np.arange(ROWS)
    shuffled = np.random.default_rng(1).permutation(ROWS)
    ordered = writer(in_order, StreamOrdering.STRICT, nvtx.BatchOrdering.SORTED)
    mixed = writer(shuffled, StreamOrdering.UNKNOWN, nvtx.BatchOrdering.UNSORTED)
    contenders = [
        Contender("nvtx-perfetto, in order", ROWS, lambda: to_perfetto(ordered)),
        Contender("nvtx-perfetto, shuffled", ROWS, lambda: to_perfetto(mixed)),
        Contender("do-nothing backend, in order", ROWS, lambda: to_nothing(ordered)),
        Contender("do-nothing backend, shuffled", ROWS, lambda: to_nothing(mixed)),
        Contender("perfetto's Python builder", FEW, build_with_peer),
    ]
    report("Nested ranges with registered names, in one batch", compare(contenders))


if __name__ == "__main__":
    main()
