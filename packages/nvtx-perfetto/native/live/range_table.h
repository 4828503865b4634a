// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "live/chunk_pool.h"

namespace nvtx_perfetto::live {

// The process-wide ranges that are open. A range's slot is its lane in the trace, so slots are
// reused last in, first out. Opening and closing need no lock, but for growth.
class RangeTable {
 public:
  RangeTable(LiveFile& file, ChunkPool& pool, uint32_t first_generation);

  // Takes a slot; false when there is none.
  bool open(uint32_t domain, uint32_t& slot, uint32_t& generation);
  // BOOTTIME, after the end of the range that had the slot before: two events of one lane at one
  // time would nest.
  int64_t start_time(uint32_t slot) const;
  static uint64_t id(uint32_t slot, uint32_t generation) {
    return uint64_t{generation} << 32 | (slot + 1);
  }

  // Closes a range and says which slot it had. False when the id is that of no open range.
  bool close(uint64_t id, uint32_t& slot, uint32_t& domain);
  // After close: the end is recorded, or it waits in the slot for the next drain.
  void recorded(uint32_t slot, int64_t end);
  void leave_end(uint32_t slot, int64_t end);
  // The drain has taken the end that waited here.
  void taken(uint32_t slot);

 private:
  bool take(uint32_t& slot);
  void give_back(uint32_t slot);
  bool grow();
  RangeSlot* find(uint32_t slot) const;

  LiveFile& file_;
  ChunkPool& pool_;
  const uint32_t first_generation_;
  std::atomic<uint64_t> head_{0};  // as in ChunkPool
  std::unique_ptr<std::atomic<uint32_t>[]> next_;
  std::atomic<uint32_t> chunks_{0};
  std::mutex growing_;
};

// The slot in a live file, or null when the file has no such slot.
RangeSlot* find_range(const LiveFile& file, uint32_t slot);

}  // namespace nvtx_perfetto::live
