// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "io/byte_buffer.h"

namespace nvtx_perfetto {

// Ids of Perfetto's built-in clocks (BuiltinClock).
enum PerfettoClock : uint32_t {
  kRealtime = 1,
  kMonotonic = 3,
  kMonotonicRaw = 5,
  kBoottime = 6,
};

// The packet every file starts with; it names the trace's clock. Its size is the same for
// every clock, so that it can be overwritten once the clock is known.
void add_header(ByteBuffer& out, uint32_t sequence, PerfettoClock trace_clock);

// Tells a session's trace from others that were written to the same path.
void add_trace_uuid(ByteBuffer& out, uint32_t sequence, uint64_t seed);

// What this machine's clocks show at one moment, which ties them to one another.
struct HostTimes {
  struct Reading {
    PerfettoClock clock;
    int64_t time;
  };
  Reading readings[4];

  static HostTimes now();
};

// Names the trace's clock too, unless it is 0.
void add_host_snapshot(ByteBuffer& out, uint32_t sequence, const HostTimes& times,
                       uint32_t trace_clock = 0);
inline void add_host_snapshot(ByteBuffer& out, uint32_t sequence, uint32_t trace_clock = 0) {
  add_host_snapshot(out, sequence, HostTimes::now(), trace_clock);
}

}  // namespace nvtx_perfetto
