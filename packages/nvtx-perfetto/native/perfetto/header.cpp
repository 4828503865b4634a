// SPDX-License-Identifier: Apache-2.0
#include "perfetto/header.h"

#include <ctime>

#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"

namespace nvtx_perfetto {

using namespace field;

namespace {

int64_t read_clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
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

void add_trace_uuid(ByteBuffer& out, uint32_t sequence, uint64_t seed) {
  size_t packet = proto::open_message(out, kTrace_packet);
  proto::add_varint(out, kTracePacket_trusted_packet_sequence_id, sequence);
  size_t uuid = proto::open_message(out, kTracePacket_trace_uuid);
  proto::add_varint(out, kTraceUuid_msb, seed);
  proto::add_varint(out, kTraceUuid_lsb, ~seed);
  proto::close_message(out, uuid);
  proto::close_message(out, packet);
}

HostTimes HostTimes::now() {
  return {{{kBoottime, read_clock(CLOCK_BOOTTIME)},
           {kMonotonic, read_clock(CLOCK_MONOTONIC)},
           {kMonotonicRaw, read_clock(CLOCK_MONOTONIC_RAW)},
           {kRealtime, read_clock(CLOCK_REALTIME)}}};
}

void add_host_snapshot(ByteBuffer& out, uint32_t sequence, const HostTimes& times,
                       uint32_t trace_clock) {
  size_t packet = proto::open_message(out, kTrace_packet);
  proto::add_varint(out, kTracePacket_trusted_packet_sequence_id, sequence);
  size_t snapshot = proto::open_message(out, kTracePacket_clock_snapshot);
  for (const auto& reading : times.readings) {
    add_clock(out, reading.clock, static_cast<uint64_t>(reading.time));
  }
  if (trace_clock) proto::add_varint(out, kClockSnapshot_primary_trace_clock, trace_clock);
  proto::close_message(out, snapshot);
  proto::close_message(out, packet);
}

}  // namespace nvtx_perfetto
