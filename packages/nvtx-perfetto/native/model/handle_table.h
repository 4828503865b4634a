// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace nvtx_perfetto {

// Opaque handles that say what they are and cannot be mistaken for one another:
//
//   | kind: 8 bits | generation: 32 bits | index: 24 bits |
//
// A slot's generation grows when its object goes, so old handles find nothing. It starts at
// `first_generation`, so that tables of different epochs do not mix up each other's handles.
// Slots are never freed, so any number may be looked up safely.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(uint8_t kind, uint32_t first_generation = 1)
      : kind_(kind), first_generation_(first_generation) {}
  ~HandleTable() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // The object of a handle, locked; empty for a handle that is none (any more).
  class Locked {
   public:
    Locked() = default;
    Locked(std::unique_lock<std::mutex> lock, T* object)
        : lock_(std::move(lock)), object_(object) {}
    explicit operator bool() const { return object_ != nullptr; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }

   private:
    std::unique_lock<std::mutex> lock_;
    T* object_ = nullptr;
  };

  uint64_t add(std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t index;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      index = size_;
      if (index >= kChunks * kChunkSize) return 0;
      auto& chunk = chunks_[index / kChunkSize];
      if (!chunk.load(std::memory_order_relaxed)) {
        auto* slots = new Slot[kChunkSize];
        for (uint64_t i = 0; i < kChunkSize; ++i) slots[i].generation = first_generation_;
        chunk.store(slots, std::memory_order_release);
      }
      ++size_;
    }
    Slot& slot = *find(index);
    std::lock_guard<std::mutex> slot_lock(slot.mutex);
    slot.object = std::move(object);
    return uint64_t{kind_} << 56 | uint64_t{slot.generation} << 24 | index;
  }

  Locked lock(uint64_t handle) {
    Slot* slot = slot_of(handle);
    if (!slot) return {};
    std::unique_lock<std::mutex> lock(slot->mutex);
    if (!slot->object || slot->generation != generation_of(handle)) return {};
    T* object = slot->object.get();
    return Locked(std::move(lock), object);
  }

  // As lock(), but empty as well while another thread has it.
  Locked try_lock(uint64_t handle) {
    Slot* slot = slot_of(handle);
    if (!slot) return {};
    std::unique_lock<std::mutex> lock(slot->mutex, std::try_to_lock);
    if (!lock || !slot->object || slot->generation != generation_of(handle)) return {};
    T* object = slot->object.get();
    return Locked(std::move(lock), object);
  }

  std::shared_ptr<T> get(uint64_t handle) {
    Slot* slot = slot_of(handle);
    if (!slot) return nullptr;
    std::lock_guard<std::mutex> lock(slot->mutex);
    return slot->generation == generation_of(handle) ? slot->object : nullptr;
  }

  // Takes the object out; waits for whoever has it locked. Null when it is gone already.
  std::shared_ptr<T> remove(uint64_t handle) {
    return remove(handle, [](T&) {});
  }
  // The same, with a last call that nobody who removes or uses the object can overlap.
  template <typename LastCall>
  std::shared_ptr<T> remove(uint64_t handle, const LastCall& last) {
    Slot* slot = slot_of(handle);
    if (!slot) return nullptr;
    std::shared_ptr<T> object;
    {
      std::lock_guard<std::mutex> lock(slot->mutex);
      if (!slot->object || slot->generation != generation_of(handle)) return nullptr;
      last(*slot->object);
      object = std::move(slot->object);
      slot->object = nullptr;
      ++slot->generation;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(handle & kIndexMask);
    return object;
  }

 private:
  static constexpr uint64_t kIndexMask = (uint64_t{1} << 24) - 1;
  static constexpr uint64_t kChunkSize = 256;
  static constexpr uint64_t kChunks = (kIndexMask + 1) / kChunkSize;

  struct Slot {
    std::mutex mutex;
    uint32_t generation = 0;
    std::shared_ptr<T> object;
  };

  static uint32_t generation_of(uint64_t handle) { return static_cast<uint32_t>(handle >> 24); }
  Slot* find(uint64_t index) {
    Slot* chunk = chunks_[index / kChunkSize].load(std::memory_order_acquire);
    return chunk ? chunk + index % kChunkSize : nullptr;
  }
  Slot* slot_of(uint64_t handle) {
    return handle >> 56 == kind_ ? find(handle & kIndexMask) : nullptr;
  }

  const uint8_t kind_;
  const uint32_t first_generation_;
  std::mutex mutex_;
  std::vector<uint64_t> free_;
  uint64_t size_ = 0;
  // Half a megabyte of address space, touched as far as it is used.
  std::vector<std::atomic<Slot*>> chunks_ = std::vector<std::atomic<Slot*>>(kChunks);
};

}  // namespace nvtx_perfetto
