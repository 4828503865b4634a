# SPDX-License-Identifier: Apache-2.0
"""How fast do counter samples get into a trace, and how many bytes do they take?"""

from __future__ import annotations

import numpy as np
from measuring import Contender, compare, report
from nvtx.writer import Session, StreamOrdering
from outputs import FOLDER, to_nothing, to_perfetto
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

ROWS = 5_000_000
FEW = 50_000  # what a builder in Python gets through in the same time


def main() -> None:
    random = np.random.default_rng(1)
    times = np.cumsum(random.integers(1, 2_000, ROWS)).astype(np.int64)
    values = random.integers(0, 1 << 34, ROWS).astype(np.int64)

    def write(session: Session) -> None:
        domain = session.get_domain("bench")
        counter = domain.get_counter("memory", np.int64)
        with session.create_stream("s", domain=domain, ordering=StreamOrdering.STRICT) as stream:
            stream.write_counter_batch(counter, values, timestamps=times)

    def build() -> int:
        path = FOLDER / "peer.pftrace"
        with path.open("wb") as file:
            builder = StreamingTraceProtoBuilder(file)
            packet = builder.create_packet()
            track: TrackDescriptor = packet.track_descriptor
            track.uuid, track.name = 1, "memory"
            track.counter.SetInParent()
            builder.write_packet(packet)
            for at, value in zip(times[:FEW].tolist(), values[:FEW].tolist(), strict=True):
                packet = builder.create_packet()
                packet.timestamp, packet.trusted_packet_sequence_id = at, 1
                packet.track_event.type = TrackEvent.TYPE_COUNTER
                packet.track_event.track_uuid = 1
                packet.track_event.counter_value = value
                builder.write_packet(packet)
        return path.stat().st_size

    contenders = [
        Contender("nvtx-perfetto, batch", ROWS, lambda: to_perfetto(write)),
        Contender("do-nothing backend, batch", ROWS, lambda: to_nothing(write)),
        Contender("perfetto's Python builder", FEW, build),
    ]
    report("Counter samples, one counter, in order", compare(contenders))


if __name__ == "__main__":
    main()
