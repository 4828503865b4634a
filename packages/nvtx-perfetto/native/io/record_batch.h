// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "io/byte_buffer.h"
#include "io/record.h"

namespace nvtx_perfetto {

// Records as they arrive, and their order. Small enough to stay in the processor's cache, and
// used again and again.
class RecordBatch {
 public:
  uint8_t* add(int64_t first, int64_t second, uint32_t tag, size_t size);

  void sort();
  size_t count() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  // Bytes of all records.
  size_t size() const { return buffer_.size(); }
  // Bytes taken, the keys and the room for sorting them included.
  size_t memory() const { return buffer_.size() + 2 * keys_.size() * sizeof(Key); }
  // The record at a place of the sorted order; asks for those behind it ahead of time, since
  // their order in memory is another.
  Record sorted(size_t place) const {
    if (place + kPrefetch < keys_.size()) {
      const uint8_t* ahead = buffer_.data() + keys_[place + kPrefetch].offset;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + 64);
    }
    Record record;
    const uint8_t* at = buffer_.data() + keys_[place].offset;
    std::memcpy(&record.head, at, sizeof(RecordHead));
    record.bytes = at + sizeof(RecordHead);
    return record;
  }
  void clear();
  void release();

 private:
  static constexpr size_t kPrefetch = 12;

  struct Key {
    int64_t first;
    int64_t second;
    uint64_t offset;
    bool operator<(const Key& other) const {
      if (first != other.first) return first < other.first;
      if (second != other.second) return second < other.second;
      return offset < other.offset;
    }
  };
  void sort_by_radix();
  void sort_equals();

  ByteBuffer buffer_;
  std::vector<Key> keys_;
  std::vector<Key> spare_;  // the other half of a radix sort
  bool sorted_ = true;
};

}  // namespace nvtx_perfetto
