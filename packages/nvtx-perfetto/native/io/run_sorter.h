// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "io/byte_buffer.h"
#include "io/memory_budget.h"
#include "io/packed_records.h"
#include "io/record.h"
#include "io/record_batch.h"
#include "io/spill_file.h"

namespace nvtx_perfetto {

// Sorts any number of records in bounded memory. Records gather in a batch; a full batch
// becomes a sorted, packed run in memory, or goes on the run before it where it follows on it;
// when the owner asks to spill, the runs in memory are merged into one in the session's spill
// file; and all runs are merged when the records are visited. Not safe for use by several
// threads at once.
class RunSorter {
 public:
  static constexpr size_t kLeastSpill = 64 << 10;

  RunSorter(MemoryBudget& budget, SpillFile& file);
  ~RunSorter() { settle(0); }
  RunSorter(const RunSorter&) = delete;
  RunSorter& operator=(const RunSorter&) = delete;

  // Whose records they are, for whoever finds the spill file.
  void set_label(const SpillLabel& label) { label_ = label; }

  // Adds a record and returns where its `size` bytes belong, good until the next call.
  uint8_t* add(int64_t first, int64_t second, uint32_t tag, size_t size) {
    if (batch_.size() >= (batch_.ordered() ? ordered_size_ : batch_size_)) seal();
    uint8_t* at = batch_.add(first, second, tag, size);
    ++count_;
    if (batch_.filled() >= charge_at_) charge();
    return at;
  }
  void add(int64_t first, int64_t second, uint32_t tag, const void* bytes, size_t size) {
    uint8_t* at = add(first, second, tag, size);
    if (size) std::memcpy(at, bytes, size);
  }

  // Writes what is in memory as one sorted run; false after an I/O error, when the records
  // stay in memory.
  bool spill();
  // The same once memory is short, but for next to nothing: for sorters that several share.
  void spill_if_short() {
    if (budget_.exceeded() && memory() >= kLeastSpill) spill();
  }

  // Visits every record in order and leaves the sorter empty. False after an I/O
  // error; `lost()` then says how many records were not visited.
  using Visitor = std::function<void(const Record&)>;
  bool drain(const Visitor& visit);

  bool empty() const { return count_ == 0; }
  // Whether some records are in the file.
  bool spilled() const { return !runs_.empty() && !runs_.front().in_memory(); }
  uint64_t count() const { return count_; }
  uint64_t lost() const { return lost_; }
  // May be read from any thread.
  size_t memory() const { return memory_.load(std::memory_order_relaxed); }

 private:
  // Packed in memory, or as it is at `offset` in the spill file. Runs in memory are younger
  // than others.
  struct Run {
    ByteBuffer memory;
    int64_t offset = -1;
    uint64_t size = 0;  // bytes of the records as they are
    uint64_t records = 0;
    RecordHead last{};
    bool in_memory() const { return offset < 0; }
    // As large as both.
    void take(const Run& other) {
      size += other.size;
      records += other.records;
    }
  };
  class RunReader;
  class RunWriter;

  void seal();
  Run& run_for_batch();
  void charge();
  void settle(size_t held);
  uint64_t merge(size_t first, size_t last, const Visitor& visit);
  bool write_merged(size_t first, size_t last, const Run& merged);
  bool reduce_runs();
  size_t fan_in() const;
  void reset();

  MemoryBudget& budget_;
  SpillFile& file_;
  SpillLabel label_;
  size_t batch_size_;
  size_t ordered_size_;  // of a batch in order
  RecordBatch batch_;
  RecordPacker packer_;    // of the youngest run
  std::vector<Run> runs_;  // in the order of their arrival
  uint64_t count_ = 0;
  uint64_t lost_ = 0;
  size_t sealed_ = 0;  // bytes of the runs in memory
  size_t charged_ = 0;
  size_t charge_at_ = 0;  // bytes in the batch from which to look again
  std::atomic<size_t> memory_{0};
};

}  // namespace nvtx_perfetto
