// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "live/live_file.h"

namespace nvtx_perfetto::live {

// The free chunks of a live file. Taking and giving back need no lock; only when
// none is free does the pool grow, which the writer thread does ahead of need.
class ChunkPool {
 public:
  explicit ChunkPool(LiveFile& file)
      : file_(file), next_(new std::atomic<uint32_t>[file.header().chunk_limit]()) {}

  // A chunk without records, or -1 when the file has reached its limit or the disk is full.
  int64_t acquire();
  void release(uint32_t chunk);
  // Grows until `count` chunks are free, as far as the limit allows.
  void top_up(uint32_t count);
  uint32_t free_chunks() const { return free_.load(std::memory_order_relaxed); }

 private:
  int64_t take();
  // Adds a chunk that is nobody's yet. Gives up the lock on the way.
  int64_t extend(std::unique_lock<std::mutex> growing);
  void clear(uint32_t chunk);

  LiveFile& file_;
  // Index + 1 of the first free chunk below a tag that changes with each use, against
  // the ABA problem.
  std::atomic<uint64_t> head_{0};
  std::unique_ptr<std::atomic<uint32_t>[]> next_;
  std::atomic<uint32_t> free_{0};
  std::mutex growing_;
};

}  // namespace nvtx_perfetto::live
