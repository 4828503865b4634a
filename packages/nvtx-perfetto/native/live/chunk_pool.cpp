// SPDX-License-Identifier: Apache-2.0
#include "live/chunk_pool.h"

namespace nvtx_perfetto::live {
namespace {

constexpr uint64_t kTag = uint64_t{1} << 32;
constexpr uint64_t kIndex = kTag - 1;

}  // namespace

int64_t ChunkPool::take() {
  uint64_t head = head_.load(std::memory_order_acquire);
  for (;;) {
    uint64_t first = head & kIndex;
    if (first == 0) return -1;
    uint64_t next = next_[first - 1].load(std::memory_order_relaxed);
    uint64_t wanted = ((head & ~kIndex) + kTag) | next;
    if (head_.compare_exchange_weak(head, wanted, std::memory_order_acquire)) {
      free_.fetch_sub(1, std::memory_order_relaxed);
      return static_cast<int64_t>(first - 1);
    }
  }
}

void ChunkPool::clear(uint32_t chunk) {
  ChunkHeader& header = file_.chunk_header(chunk);
  header.next.store(0, std::memory_order_relaxed);
  header.committed.store(kChunkStart, std::memory_order_release);
}

int64_t ChunkPool::extend(std::unique_lock<std::mutex> growing) {
  int64_t chunk = file_.extend();
  growing.unlock();  // mapping memory is nobody else's business
  if (chunk >= 0) file_.populate(static_cast<uint32_t>(chunk));
  return chunk;
}

int64_t ChunkPool::acquire() {
  int64_t chunk = take();
  if (chunk < 0) {
    std::unique_lock<std::mutex> growing(growing_);
    chunk = take();  // one may have come free while another thread was growing
    if (chunk < 0) chunk = extend(std::move(growing));
  }
  if (chunk >= 0) clear(static_cast<uint32_t>(chunk));
  return chunk;
}

void ChunkPool::release(uint32_t chunk) {
  uint64_t head = head_.load(std::memory_order_relaxed);
  do {
    next_[chunk].store(static_cast<uint32_t>(head & kIndex), std::memory_order_relaxed);
  } while (!head_.compare_exchange_weak(head, ((head & ~kIndex) + kTag) | (chunk + 1),
                                        std::memory_order_release, std::memory_order_relaxed));
  free_.fetch_add(1, std::memory_order_relaxed);
}

void ChunkPool::top_up(uint32_t count) {
  while (free_chunks() < count) {
    int64_t chunk = extend(std::unique_lock<std::mutex>(growing_));
    if (chunk < 0) return;
    release(static_cast<uint32_t>(chunk));
  }
}

}  // namespace nvtx_perfetto::live
