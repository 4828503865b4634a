// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "io/byte_buffer.h"
#include "io/memory_budget.h"
#include "io/record.h"
#include "io/record_batch.h"
#include "io/spill_file.h"

namespace nvtx_perfetto {

// Sorts any number of records in bounded memory. Records gather in a batch; a full batch
// becomes a sorted run in memory; when the owner asks to spill, the runs in memory are merged
// into one in the session's spill file; and all runs are merged when the records are
// visited. Not safe for use by several threads at once.
class RunSorter {
 public:
  RunSorter(MemoryBudget& budget, SpillFile& file);
  ~RunSorter() { budget_.release(charged_); }
  RunSorter(const RunSorter&) = delete;
  RunSorter& operator=(const RunSorter&) = delete;

  // Adds a record and returns where its `size` bytes belong, good until the next call.
  uint8_t* add(int64_t first, int64_t second, uint32_t tag, size_t size) {
    if (batch_.size() >= batch_size_) seal();
    uint8_t* at = batch_.add(first, second, tag, size);
    ++count_;
    if (batch_.memory() >= charge_at_) charge();
    return at;
  }
  void add(int64_t first, int64_t second, uint32_t tag, const void* bytes, size_t size) {
    uint8_t* at = add(first, second, tag, size);
    if (size) std::memcpy(at, bytes, size);
  }

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
  // In memory, or at `offset` in the spill file. Runs in memory are younger than others.
  struct Run {
    ByteBuffer memory;
    int64_t offset;
    uint64_t size;
    uint64_t records;
    bool in_memory() const { return offset < 0; }
  };
  class RunReader;
  class RunWriter;

  void seal();
  void charge();
  uint64_t merge(size_t first, size_t last, const Visitor& visit);
  bool merge_into_file(size_t first, size_t last, Run& merged);
  bool reduce_runs();
  size_t fan_in() const;
  void reset();

  MemoryBudget& budget_;
  SpillFile& file_;
  const size_t batch_size_;
  RecordBatch batch_;
  std::vector<Run> runs_;  // in the order of their arrival
  uint64_t count_ = 0;
  uint64_t lost_ = 0;
  size_t sealed_ = 0;  // bytes of the runs in memory
  size_t charged_ = 0;
  size_t charge_at_ = 0;  // memory of the batch from which to look again
  std::atomic<size_t> memory_{0};
};

}  // namespace nvtx_perfetto
