// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvtx_perfetto {

// One record, in memory and on disk alike:
//
//   | first: i64 | second: i64 | size: u32 | tag: u32 | size bytes, padded to 8 |
//
// Records sort by (first, second, arrival).
struct RecordHead {
  int64_t first;
  int64_t second;
  uint32_t size;
  uint32_t tag;
};

inline size_t padded_size(size_t size) { return (size + 7) & ~size_t{7}; }

struct Record {
  RecordHead head;
  const uint8_t* bytes;

  // Head and bytes; the latter lie behind the former wherever records are kept.
  size_t whole_size() const { return sizeof(RecordHead) + padded_size(head.size); }
  const uint8_t* whole() const { return bytes - sizeof(RecordHead); }
};

}  // namespace nvtx_perfetto
