// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/byte_buffer.h"
#include "live/catalog.h"
#include "live/definition.h"
#include "live/layout.h"

namespace nvtx_perfetto::live {

// Which domains are recorded.
struct DomainFilter {
  std::vector<std::string> included;  // empty: all
  std::vector<std::string> excluded;
  bool admits(std::string_view name) const;
};

// All that a process has registered. It outlives forks: a child goes on with its parent's
// handles. Handles are indices with a check, never addresses, good in every NVTX copy.
//
//   domain: | 4E58: u16 | generation: u32 | index: u16 |
//   string: | 4E53: u16 | 0: u16 | index: u32 |
class Registry {
 public:
  static constexpr uint32_t kNoDomain = UINT32_MAX;

  explicit Registry(DomainFilter filter);

  // The handle; domains of one name are one domain. When there are too many, one whose calls
  // are ignored.
  uint64_t create_domain(std::string_view name);
  void destroy_domain(uint64_t handle);

  enum class Lookup : uint8_t { kGood, kDisabled, kBad };
  // Lock-free.
  Lookup find_domain(uint64_t handle, uint32_t& index) const {
    if (handle == 0) {
      index = 0;
      return state_[0].load(std::memory_order_relaxed) & 1 ? Lookup::kGood : Lookup::kDisabled;
    }
    index = handle & 0xFFFF;
    if (handle >> 48 != kDomainTag || index >= kMaxDomains) return Lookup::kBad;
    uint64_t state = state_[index].load(std::memory_order_relaxed);
    if (state >> 1 != (handle >> 16 & 0xFFFFFFFF) || state >> 1 == 0) return Lookup::kBad;
    return state & 1 ? Lookup::kGood : Lookup::kDisabled;
  }

  uint64_t register_string(uint32_t domain, std::string_view text);
  // 0 when the handle is none of ours. Lock-free.
  uint32_t find_string(uint64_t handle) const {
    uint64_t index = handle & 0xFFFFFFFFFFFF;
    if (handle >> 48 != kStringTag || index > strings_.load(std::memory_order_relaxed)) return 0;
    return static_cast<uint32_t>(index);
  }
  static uint32_t string_index(uint64_t handle) {
    return handle >> 48 == kStringTag ? static_cast<uint32_t>(handle) : 0;
  }

  // Defines something under a given id, or under a new one from `dynamic_start` on when `id` is
  // 0. Returns the id; 0 when there is no room left.
  uint64_t define(DefinitionKind kind, uint32_t domain, uint64_t id, std::string_view body,
                  uint64_t dynamic_start = 0);

  // Bytes of one payload of a schema or of one sample of a counter; 0 when that depends on the
  // data, or there is none of this id.
  size_t row_size(uint32_t domain, uint64_t schema);
  size_t sample_size(uint32_t domain, uint32_t counter);

  // From now on new definitions go to `writer` too; those so far go there at once.
  void mirror_to(DefinitionWriter* writer);
  // In a forked child, with the mutex held: the parent's writer is not there.
  void forget_mirror() { writer_ = nullptr; }

  // To be held over a fork, so that the child finds the registry whole.
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr uint64_t kDomainTag = 0x4E58;
  static constexpr uint64_t kStringTag = 0x4E53;

  struct Domain {
    uint32_t generation = 1;
    uint32_t users = 0;
    bool enabled = true;
  };
  uint64_t handle_of(uint32_t index) const;
  bool write(DefinitionKind kind, uint32_t domain, uint64_t id, std::string_view body);
  void learn_layout(DefinitionKind kind, uint32_t domain, uint64_t id, std::string_view body);
  void refuse(uint64_t much);

  const DomainFilter filter_;
  std::mutex mutex_;
  // generation << 1 | enabled
  std::atomic<uint64_t> state_[kMaxDomains] = {};
  std::atomic<uint32_t> strings_{0};
  std::vector<Domain> domains_;
  std::unordered_map<std::string, uint32_t> domain_names_;
  std::unordered_map<std::string, uint64_t> texts_;
  Catalog layouts_;  // of schemas, enums and counters
  uint64_t next_dynamic_ = 1;
  uint64_t refused_ = 0;
  ByteBuffer log_;
  DefinitionWriter* writer_ = nullptr;
};

}  // namespace nvtx_perfetto::live
