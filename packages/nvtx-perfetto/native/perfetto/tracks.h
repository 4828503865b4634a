// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "io/byte_buffer.h"

namespace nvtx_perfetto {

// Random 64-bit ids that never repeat within a process image: a counter, mixed.
class TrackIds {
 public:
  explicit TrackIds(uint64_t seed) : state_(seed) {}
  uint64_t next();

 private:
  uint64_t state_;
};

struct CounterDescription {
  std::string_view unit;
  int64_t multiplier = 1;
};

// Each adds one TracePacket with a TrackDescriptor, on the sequence given.
struct TrackDescription {
  uint64_t uuid = 0;
  uint64_t parent = 0;
  std::string_view name;
  std::string_view description;
  int32_t rank = -1;  // place among its siblings, or -1
};

void describe_track(ByteBuffer& out, uint32_t sequence, const TrackDescription& track);
void describe_counter(ByteBuffer& out, uint32_t sequence, const TrackDescription& track,
                      const CounterDescription& counter);
void describe_process(ByteBuffer& out, uint32_t sequence, uint64_t uuid, int32_t pid,
                      std::string_view name, std::string_view label = {}, int64_t start = 0);
void describe_thread(ByteBuffer& out, uint32_t sequence, uint64_t uuid, int32_t pid, int64_t tid,
                     std::string_view name);

}  // namespace nvtx_perfetto
