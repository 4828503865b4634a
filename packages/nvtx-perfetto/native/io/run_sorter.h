// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "io/byte_buffer.h"
#include "io/memory_budget.h"
#include "io/spill_file.h"

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
};

// Sorts any number of records in bounded memory: what the owner asks to spill is
// sorted and written to the session's spill file as a run, and the runs are merged when
// the records are visited. Not safe for use by several threads at once.
class RunSorter {
 public:
  RunSorter(MemoryBudget& budget, SpillFile& file) : budget_(budget), file_(file) {}
  ~RunSorter() { budget_.release(charged_); }
  RunSorter(const RunSorter&) = delete;
  RunSorter& operator=(const RunSorter&) = delete;

  // Adds a record and returns where its `size` bytes belong, good until the next call.
  uint8_t* add(int64_t first, int64_t second, uint32_t tag, size_t size);
  void add(int64_t first, int64_t second, uint32_t tag, const void* bytes, size_t size);

  // Writes what is in memory as one sorted run; false after an I/O error, when the records
  // stay in memory.
  bool spill();

  // Visits every record in order and leaves the sorter empty. False after an I/O
  // error; `lost()` then says how many records were not visited.
  using Visitor = std::function<void(const Record&)>;
  bool drain(const Visitor& visit);

  bool empty() const { return count_ == 0; }
  uint64_t count() const { return count_; }
  uint64_t lost() const { return lost_; }
  // May be read from any thread.
  size_t memory() const { return memory_.load(std::memory_order_relaxed); }

 private:
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
  struct Run {
    int64_t offset;
    uint64_t size;
    uint64_t records;
  };
  class RunReader;
  class RunWriter;

  void charge();
  void sort_keys();
  void sort_by_radix();
  void give_back();
  Record record_at(uint64_t offset) const;
  Record record_ahead(size_t index) const;
  bool merge(std::vector<Run> runs, const Visitor& visit);
  bool reduce_runs(size_t fan_in);
  size_t fan_in() const;
  void reset();

  MemoryBudget& budget_;
  SpillFile& file_;
  ByteBuffer buffer_;
  std::vector<Key> keys_;
  std::vector<Key> spare_;  // the other half of a radix sort
  std::vector<Run> runs_;
  uint64_t count_ = 0;
  uint64_t lost_ = 0;
  size_t charged_ = 0;
  std::atomic<size_t> memory_{0};
  bool sorted_ = true;
};

}  // namespace nvtx_perfetto
