// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "payload/schema.h"

namespace nvtx_perfetto {

// A 64-bit time at a known place, on the stream's own clock.
bool is_plain_time(const Schema& schema, int entry);

// What the payloads of an event look like, worked out once for the many events that look
// the same: where the times lie, if they lie at known places and nothing else decides where
// the event goes.
struct EventShape {
  const Schema* first = nullptr;
  const Schema* second = nullptr;
  uint32_t count = 0;
  bool usable = false;
  EventKind kind = EventKind::kNone;
  bool is_range = false;  // with an end of its own
  uint32_t begin_row = 0;
  uint32_t end_row = 0;
  int64_t begin_at = 0;
  int64_t end_at = 0;

  static EventShape of(const Row* rows, uint32_t count);
  bool fits(const Row* rows, uint32_t rows_count) const {
    return rows_count == count && rows[0].schema == first &&
           (count < 2 || rows[1].schema == second);
  }
};

}  // namespace nvtx_perfetto
