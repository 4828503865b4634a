// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/append_table.h"
#include "model/scope_path.h"
#include "model/time_source.h"
#include "payload/decoder.h"
#include "payload/schema_builder.h"

namespace nvtx_perfetto {

// Ids that the library gives carry their domain's number, so that an id of another domain
// is found out. Ids from 2^24 to 2^32 are the caller's own.
constexpr uint64_t kFirstStaticId = uint64_t{1} << 24;
constexpr uint64_t kFirstDynamicId = uint64_t{1} << 32;

// NVTX_SCOPE_NONE, NVTX_SCOPE_ROOT and NVTX_SCOPE_CURRENT_*.
constexpr uint64_t kPredefinedScopes = 32;
// Schemas and enums share one space of ids; this bit tells the library-given ones apart.
constexpr uint64_t kEnumBit = uint64_t{1} << 31;

struct Scope {
  uint64_t id = 0;
  std::vector<ScopeNode> path;  // from the root
  bool root = false;            // NVTX_SCOPE_NONE and NVTX_SCOPE_ROOT
};

struct Counter {
  uint64_t id = 0;
  std::string name;
  std::string description;
  uint64_t scope = 0;
  uint64_t time_domain = 0;
  const Schema* schema = nullptr;
  CounterSemantics semantics;
  int timestamp = -1;  // entry that embeds the sample's time
  size_t sample_size = 0;
  bool deltas = false;  // some field holds differences
};

// Whatever is registered in one domain of a session. Registering locks; looking up by a
// library-given id does not. Everything lives as long as the session.
class Domain final : public TypeLookup, public StringLookup {
 public:
  explicit Domain(std::string name);

  const std::string& name() const { return name_; }
  // As shown: commas would split the engine's category list.
  const std::string& shown_name() const { return shown_name_; }
  uint32_t serial() const { return serial_; }

  uint64_t add_string(std::string_view text);
  void name_category(uint32_t category, std::string_view name);
  // Ids of 0 mean failure; `problem` then says why. `wanted` is the caller's static id, or 0.
  uint64_t add_schema(std::unique_ptr<Schema> schema, uint64_t wanted, std::string& problem);
  uint64_t add_enum(std::unique_ptr<EnumType> type, uint64_t wanted, std::string& problem);
  uint64_t add_scope(const char* path, uint64_t parent, uint64_t wanted, std::string& problem);
  uint64_t add_counter(Counter counter, uint64_t wanted, std::string& problem);
  uint64_t add_time_domain(TimeDomain domain, std::string& problem);

  const std::string* find_string(uint64_t handle) const override;
  const Schema* find_schema(uint64_t id) const override;
  const EnumType* find_enum(uint64_t id) const override;
  const Counter* find_counter(uint64_t id) const;
  const Scope* find_scope(uint64_t id) const;
  const TimeDomain* find_time_domain(uint64_t id) const;
  // `category N` while it has no name.
  std::string category_name(uint32_t category) const;
  // A key for a category that no other domain's category has.
  uint64_t category_key(uint32_t category) const { return uint64_t{serial_} << 32 | category; }

 private:
  template <typename T>
  using Owned = std::unique_ptr<T>;

  // Elements by library-given id, and by static id.
  template <typename T>
  struct Registry {
    AppendTable<Owned<T>> given;
    std::unordered_map<uint64_t, Owned<T>> chosen;
  };

  uint64_t dynamic_id(uint64_t index) const { return uint64_t{serial_} << 32 | index; }
  template <typename T>
  uint64_t add(Registry<T>& registry, Owned<T> element, uint64_t wanted, std::string& problem);
  template <typename T>
  const T* find(const Registry<T>& registry, uint64_t id) const;

  const std::string name_;
  const std::string shown_name_;
  const uint32_t serial_;
  mutable std::mutex mutex_;
  AppendTable<Owned<std::string>> strings_;
  std::unordered_map<std::string_view, uint64_t> string_handles_;
  std::unordered_map<uint32_t, std::string> categories_;
  Registry<Schema> schemas_;
  Registry<EnumType> enums_;
  Registry<Scope> scopes_;
  Registry<Counter> counters_;
  Registry<TimeDomain> time_domains_;
};

}  // namespace nvtx_perfetto
