# SPDX-License-Identifier: Apache-2.0
"""Readers that the end-to-end tests check traces with; never published.

Two readers that share no code look at the same file:

- `Trace` asks the real Perfetto trace processor and gives typed rows;
- `PacketTrace` walks the raw packets and finds what the engine accepts in silence.
"""

from support.packets import PacketTrace
from support.rows import CounterSample, Flow, Slice, Track
from support.trace import Trace
from support.trace_processor import EngineError, ImportRefusedError, TraceProcessor

__all__ = [
    "CounterSample",
    "EngineError",
    "Flow",
    "ImportRefusedError",
    "PacketTrace",
    "Slice",
    "Trace",
    "TraceProcessor",
    "Track",
]
