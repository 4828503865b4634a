// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "io/byte_buffer.h"
#include "io/record.h"

namespace nvtx_perfetto {

// Records as they arrive, and their order. While each record belongs behind the one before,
// which is how most programs write, the records themselves are all there is; the first that
// does not makes the batch keep keys beside them.
class RecordBatch {
 public:
  // Adds a record and returns where its `size` bytes belong, good until the next call.
  uint8_t* add(int64_t first, int64_t second, uint32_t tag, size_t size) {
    size_t whole = sizeof(RecordHead) + padded_size(size);
    uint8_t* at = buffer_.reserve(whole);
    RecordHead head{first, second, static_cast<uint32_t>(size), tag};
    std::memcpy(at, &head, sizeof(head));
    if (size & 7) std::memset(at + whole - 8, 0, 8);
    buffer_.commit(whole);
    ++count_;
    if (count_ == 1) first_ = head;
    if (first > last_first_ || (first == last_first_ && second >= last_second_)) {
      last_first_ = first;
      last_second_ = second;
      if (!keys_.empty()) add_key(at, head);
    } else {
      add_unordered(at, head);
    }
    return at + sizeof(head);
  }

  size_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Whether the records lie in order as they came.
  bool ordered() const { return keys_.empty(); }
  // Bytes of all records.
  size_t size() const { return buffer_.size(); }
  // Bytes in use, the keys and the room for sorting them included.
  size_t filled() const { return buffer_.size() + 2 * keys_.size() * sizeof(Key); }
  // Bytes taken: what was in use once stays so until release(), as the next records go there.
  size_t memory() const { return std::max(touched_, filled()); }

  // Whether any record belongs before `head`.
  bool sorts_before(const RecordHead& head) const {
    return first_.first < head.first || (first_.first == head.first && first_.second < head.second);
  }

  // Visits every record in order.
  template <typename Visit>
  void visit(const Visit& visit) {
    sort();
    if (keys_.empty()) {
      const uint8_t* end = buffer_.data() + buffer_.size();
      for (const uint8_t* at = buffer_.data(); at < end;) {
        Record record = record_at(at);
        visit(record);
        at += record.whole_size();
      }
    } else {
      for (size_t place = 0; place < keys_.size(); ++place) visit(sorted(place));
    }
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

  static Record record_at(const uint8_t* at) {
    Record record;
    std::memcpy(&record.head, at, sizeof(RecordHead));
    record.bytes = at + sizeof(RecordHead);
    return record;
  }
  // The record at a place of the sorted order; asks for those behind it ahead of time, since
  // their order in memory is another.
  Record sorted(size_t place) const {
    if (place + kPrefetch < keys_.size()) {
      const uint8_t* ahead = buffer_.data() + keys_[place + kPrefetch].offset;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + 64);
    }
    return record_at(buffer_.data() + keys_[place].offset);
  }
  void add_key(const uint8_t* at, const RecordHead& head) {
    keys_.push_back({head.first, head.second, static_cast<uint64_t>(at - buffer_.data())});
  }
  void add_unordered(const uint8_t* at, const RecordHead& head);
  void sort();
  void sort_by_radix();
  void sort_equals();

  ByteBuffer buffer_;
  std::vector<Key> keys_;   // none while the records lie in order
  std::vector<Key> spare_;  // the other half of a radix sort
  size_t count_ = 0;
  size_t touched_ = 0;  // the most bytes that were filled since the last release
  RecordHead first_{};  // with the smallest key so far
  // The largest key so far.
  int64_t last_first_ = INT64_MIN;
  int64_t last_second_ = INT64_MIN;
};

}  // namespace nvtx_perfetto
