// SPDX-License-Identifier: Apache-2.0
#include "perfetto/header.h"

#include <ctime>

#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"

namespace nvtx_perfetto {

using namespace field;

namespace {

uint64_t read_clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

void add_clock(ByteBuffer& out, uint32_t clock, uint64_t time) {
  size_t entry = proto::open_message(out, kClockSnapshot_clocks);
  proto::add_varint(out, kClock_clock_id, clock);
  proto::add_varint(out, kClock_timestamp, time);
  proto::close_message(out, entry);
}

}  // namespace

void add_header(ByteBuffer& out, uint32_t sequence, PerfettoClock trace_clock) {
  size_t packet = proto::open_message(out, kTrace_packet);
  proto::add_varint(out, kTracePacket_trusted_packet_sequence_id, sequence);
  size_t snapshot = proto::open_message(out, kTracePacket_clock_snapshot);
  proto::add_varint(out, kClockSnapshot_primary_trace_clock, trace_clock);
  proto::close_message(out, snapshot);
  proto::close_message(out, packet);
}

void add_host_snapshot(ByteBuffer& out, uint32_t sequence, uint32_t trace_clock) {
  constexpr clockid_t kHost[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                                 CLOCK_REALTIME};
  constexpr PerfettoClock kIds[] = {kBoottime, kMonotonic, kMonotonicRaw, kRealtime};
  uint64_t times[4];
  for (int i = 0; i < 4; ++i) times[i] = read_clock(kHost[i]);
  size_t packet = proto::open_message(out, kTrace_packet);
  proto::add_varint(out, kTracePacket_trusted_packet_sequence_id, sequence);
  size_t snapshot = proto::open_message(out, kTracePacket_clock_snapshot);
  for (int i = 0; i < 4; ++i) add_clock(out, kIds[i], times[i]);
  if (trace_clock) proto::add_varint(out, kClockSnapshot_primary_trace_clock, trace_clock);
  proto::close_message(out, snapshot);
  proto::close_message(out, packet);
}

}  // namespace nvtx_perfetto
