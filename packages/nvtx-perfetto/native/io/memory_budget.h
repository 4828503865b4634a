// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvtx_perfetto {

// How much all sorters of one session hold in memory, how many do so, and how often they spilled.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}

  void charge(size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void release(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool exceeded() const { return used_.load(std::memory_order_relaxed) > limit_; }
  size_t limit() const { return limit_; }

  void enter() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void leave() { holders_.fetch_sub(1, std::memory_order_relaxed); }
  // What a holder may gather before it sorts: all of them together take a small part of the
  // limit, however many they are, and one of them alone no more than it needs.
  size_t batch_size() const {
    size_t holders = std::max(size_t{2}, holders_.load(std::memory_order_relaxed));
    return std::clamp(limit_ / kParts / holders, kMinBatch, kMaxBatch);
  }

  void count_run() { runs_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kParts = 8;
  static constexpr size_t kMinBatch = 4 << 10;
  static constexpr size_t kMaxBatch = 4 << 20;

  const size_t limit_;
  std::atomic<size_t> used_{0};
  std::atomic<size_t> holders_{0};
  std::atomic<uint64_t> runs_{0};
};

}  // namespace nvtx_perfetto
