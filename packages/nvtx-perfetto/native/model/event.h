// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "payload/schema.h"

namespace nvtx_perfetto {

// The end of a range that nothing ended.
constexpr int64_t kNeverEnds = INT64_MAX;

enum class Shape : uint8_t { kNested, kInstant, kAsync };

// A mark or a complete range, on the trace's clock, ready to be written.
struct Event {
  int64_t begin = 0;
  int64_t end = 0;  // begin for instants
  Shape shape = Shape::kNested;
  const Row* rows = nullptr;
  uint32_t row_count = 0;
  const Row* pop_rows = nullptr;  // what a pop or an end brought along
  uint32_t pop_row_count = 0;
  uint64_t batch_scope = 0;  // what its batch said of its scope
  bool has_flows = false;
  uint64_t first_flow = 0;  // its first end in the session's flow table
};

}  // namespace nvtx_perfetto
