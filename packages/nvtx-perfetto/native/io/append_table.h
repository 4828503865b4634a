// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace nvtx_perfetto {

// A list that only grows and whose elements never move, so that readers need no lock.
// Writers must exclude one another.
template <typename T>
class AppendTable {
 public:
  AppendTable() = default;
  ~AppendTable() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  AppendTable(const AppendTable&) = delete;
  AppendTable& operator=(const AppendTable&) = delete;

  // Null when there is no such index (yet).
  T* find(uint64_t index) {
    if (index >= size_.load(std::memory_order_acquire)) return nullptr;
    return slot(index);
  }
  const T* find(uint64_t index) const { return const_cast<AppendTable*>(this)->find(index); }
  uint64_t size() const { return size_.load(std::memory_order_acquire); }

  // The index of the new element.
  uint64_t append(T value) {
    uint64_t index = size_.load(std::memory_order_relaxed);
    if (chunk_of(index) >= kChunks) throw std::length_error("the table is full");
    auto& chunk = chunks_[chunk_of(index)];
    if (!chunk.load(std::memory_order_relaxed)) {
      chunk.store(new T[chunk_size(chunk_of(index))], std::memory_order_release);
    }
    *slot(index) = std::move(value);
    size_.store(index + 1, std::memory_order_release);
    return index;
  }

 private:
  // Chunk c holds kFirst << c elements, so that forty of them suffice for any list.
  static constexpr uint64_t kFirst = 16;
  static constexpr int kChunks = 40;

  static int chunk_of(uint64_t index) { return 63 - __builtin_clzll(index / kFirst + 1); }
  static uint64_t chunk_size(int chunk) { return kFirst << chunk; }
  T* slot(uint64_t index) {
    int chunk = chunk_of(index);
    uint64_t start = kFirst * ((uint64_t{1} << chunk) - 1);
    return chunks_[chunk].load(std::memory_order_acquire) + (index - start);
  }

  std::atomic<T*> chunks_[kChunks] = {};
  std::atomic<uint64_t> size_{0};
};

}  // namespace nvtx_perfetto
