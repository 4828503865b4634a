// SPDX-License-Identifier: Apache-2.0
// Records that wait for a partner or for the session's end, besides whole events (see
// packed_event.h): what stands before their rows.
#pragma once

#include <cstdint>

namespace nvtx_perfetto {

class EventTrack;

// A push or a pop, sorted by its time.
struct HalfHead {
  static constexpr uint32_t kPushBit = 1;
  static constexpr uint32_t kFlowsBit = 2;
  static constexpr int kRowsShift = 8;  // the rest of the tag is the number of rows

  uint64_t first_flow;
  uint64_t batch_scope;
};

// A start or an end, sorted by its id and its time.
struct RangeHalfHead {
  static constexpr uint32_t kStartBit = 1;
  static constexpr uint32_t kFlowsBit = 2;
  static constexpr int kRowsShift = 8;

  EventTrack* track;  // means nothing to another process
  uint64_t first_flow;
  uint64_t batch_scope;
  uint64_t stream;  // its number
};

// An event or a sample whose time cannot be told yet; then rows, or the sample's bytes.
struct DeferredHead {
  static constexpr uint32_t kKindBits = 0xF;
  static constexpr uint32_t kEvent = 0;
  static constexpr uint32_t kSample = 1;
  static constexpr int kNoValueShift = 4;  // of a sample: 1 + why it has no value
  static constexpr int kRowsShift = 8;

  uint64_t stream;   // its number
  uint64_t subject;  // an event's batch's scope, or a counter's id
  int64_t ticks;
};

}  // namespace nvtx_perfetto
