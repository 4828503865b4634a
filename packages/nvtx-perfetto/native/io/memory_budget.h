// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvtx_perfetto {

// How much all sorters of one session hold in memory, and how often they spilled.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}

  void charge(size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void release(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool exceeded() const { return used_.load(std::memory_order_relaxed) > limit_; }
  size_t limit() const { return limit_; }

  void count_run() { runs_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
  std::atomic<uint64_t> runs_{0};
};

}  // namespace nvtx_perfetto
