// SPDX-License-Identifier: Apache-2.0
#include "live/range_table.h"

#include "live/clock.h"

namespace nvtx_perfetto::live {
namespace {

constexpr uint64_t kTag = uint64_t{1} << 32;
constexpr uint64_t kIndex = kTag - 1;

}  // namespace

RangeSlot* find_range(const LiveFile& file, uint32_t slot) {
  uint32_t at = slot / kRangesPerChunk;
  if (at >= kMaxRangeChunks) return nullptr;
  uint32_t chunk = file.header().range_chunks[at].load(std::memory_order_acquire);
  if (chunk == 0 || !file.holds(chunk - 1)) return nullptr;
  return reinterpret_cast<RangeSlot*>(file.chunk(chunk - 1) + kChunkStart) + slot % kRangesPerChunk;
}

RangeTable::RangeTable(LiveFile& file, ChunkPool& pool, uint32_t first_generation)
    : file_(file), pool_(pool), first_generation_(first_generation & ~1u),
      // Not cleared: a slot's entry is written before it is read, and most slots are never used.
      next_(new std::atomic<uint32_t>[kMaxRangeChunks * kRangesPerChunk]) {}

RangeSlot* RangeTable::find(uint32_t slot) const { return find_range(file_, slot); }

bool RangeTable::take(uint32_t& slot) {
  uint64_t head = head_.load(std::memory_order_acquire);
  for (;;) {
    uint64_t first = head & kIndex;
    if (first == 0) return false;
    uint64_t next = next_[first - 1].load(std::memory_order_relaxed);
    if (head_.compare_exchange_weak(head, ((head & ~kIndex) + kTag) | next,
                                    std::memory_order_acquire)) {
      slot = static_cast<uint32_t>(first - 1);
      return true;
    }
  }
}

void RangeTable::give_back(uint32_t slot) {
  uint64_t head = head_.load(std::memory_order_relaxed);
  do {
    next_[slot].store(static_cast<uint32_t>(head & kIndex), std::memory_order_relaxed);
  } while (!head_.compare_exchange_weak(head, ((head & ~kIndex) + kTag) | (slot + 1),
                                        std::memory_order_release, std::memory_order_relaxed));
}

bool RangeTable::grow() {
  uint32_t at = chunks_.load(std::memory_order_relaxed);
  if (at == kMaxRangeChunks) return false;
  int64_t chunk = pool_.acquire();
  if (chunk < 0) return false;
  auto* slots =
      reinterpret_cast<RangeSlot*>(file_.chunk(static_cast<uint32_t>(chunk)) + kChunkStart);
  for (uint32_t i = 0; i < kRangesPerChunk; ++i) {
    slots[i].generation.store(first_generation_, std::memory_order_relaxed);
    slots[i].last_end.store(0, std::memory_order_relaxed);
    slots[i].late_end.store(0, std::memory_order_relaxed);
  }
  file_.header().range_chunks[at].store(static_cast<uint32_t>(chunk + 1),
                                        std::memory_order_release);
  chunks_.store(at + 1, std::memory_order_release);
  for (uint32_t i = kRangesPerChunk; i-- > 0;) give_back(at * kRangesPerChunk + i);
  return true;
}

bool RangeTable::open(uint32_t domain, uint32_t& slot, uint32_t& generation) {
  if (!take(slot)) {
    std::lock_guard<std::mutex> lock(growing_);
    if (!take(slot) && (!grow() || !take(slot))) return false;
  }
  RangeSlot* found = find(slot);
  found->domain.store(domain, std::memory_order_relaxed);
  generation = found->generation.load(std::memory_order_relaxed) + 1;
  found->generation.store(generation, std::memory_order_release);
  return true;
}

int64_t RangeTable::start_time(uint32_t slot) const {
  int64_t before = find(slot)->last_end.load(std::memory_order_relaxed);
  int64_t now;
  do {
    now = boottime();
  } while (now <= before);
  return now;
}

bool RangeTable::close(uint64_t id, uint32_t& slot, uint32_t& domain) {
  uint64_t number = id & kIndex;
  if (number == 0 || number > uint64_t{chunks_.load(std::memory_order_acquire)} * kRangesPerChunk) {
    return false;
  }
  slot = static_cast<uint32_t>(number - 1);
  RangeSlot* found = find(slot);
  auto generation = static_cast<uint32_t>(id >> 32);
  if (!found || !(generation & 1)) return false;
  uint32_t expected = generation;
  domain = found->domain.load(std::memory_order_relaxed);
  return found->generation.compare_exchange_strong(expected, generation + 1,
                                                   std::memory_order_acq_rel);
}

void RangeTable::recorded(uint32_t slot, int64_t end) {
  find(slot)->last_end.store(end, std::memory_order_relaxed);
  give_back(slot);
}

void RangeTable::leave_end(uint32_t slot, int64_t end) {
  find(slot)->late_end.store(end, std::memory_order_release);
  file_.header().late_ends.fetch_add(1, std::memory_order_release);
}

void RangeTable::taken(uint32_t slot) {
  RangeSlot* found = find(slot);
  found->last_end.store(found->late_end.exchange(0, std::memory_order_relaxed),
                        std::memory_order_relaxed);
  give_back(slot);
}

}  // namespace nvtx_perfetto::live
