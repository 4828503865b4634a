// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvtx_perfetto {

// An open-addressing map from 64-bit keys to 32-bit values above 0. Empty maps own
// no memory, since most sequences intern next to nothing.
class FlatMap {
 public:
  // 0 when the key is not there.
  uint32_t find(uint64_t key) const {
    if (slots_.empty()) return 0;
    for (size_t at = hash(key) & mask();; at = (at + 1) & mask()) {
      if (slots_[at].value == 0 || slots_[at].key == key) return slots_[at].value;
    }
  }
  // The key must not be there yet.
  void insert(uint64_t key, uint32_t value) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    place(key, value);
    ++count_;
  }
  void clear() {
    slots_.clear();
    count_ = 0;
  }
  size_t size() const { return count_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = 0;
  };
  static size_t hash(uint64_t key) {
    key *= 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(key ^ (key >> 32));
  }
  size_t mask() const { return slots_.size() - 1; }
  void place(uint64_t key, uint32_t value) {
    size_t at = hash(key) & mask();
    while (slots_[at].value != 0) at = (at + 1) & mask();
    slots_[at].key = key;
    slots_[at].value = value;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != 0) place(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace nvtx_perfetto
