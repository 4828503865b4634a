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
#include "model/event_names.h"
#include "model/scope_path.h"
#include "model/time_source.h"
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
class Domain final : public TypeLookup, public EventNames {
 public:
  explicit Domain(std::string name) : Domain(std::move(name), fresh_serial()) {}
  // For domains of before: ids that were given hold the serial.
  Domain(std::string name, uint32_t serial);

  const std::string& name() const { return name_; }
  const std::string& shown_name() const override { return shown_name_; }
  uint32_t serial() const { return serial_; }
  // How many strings have been added, and the handle of one of them.
  uint64_t strings() const { return strings_.size(); }
  uint64_t dynamic_id(uint64_t index) const { return uint64_t{serial_} << 32 | index; }

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
  const Schema* numbered_schema(uint32_t number) const override;
  const EnumType* find_enum(uint64_t id) const override;
  const Counter* find_counter(uint64_t id) const;
  const Scope* find_scope(uint64_t id) const;
  const TimeDomain* find_time_domain(uint64_t id) const;
  std::string category_name(uint32_t category) const override;
  uint64_t first_category_key() const override { return uint64_t{serial_} << 32; }

 private:
  static uint32_t fresh_serial();
  template <typename T>
  using Owned = std::unique_ptr<T>;

  // Elements by library-given id, and by static id.
  template <typename T>
  struct Registry {
    AppendTable<Owned<T>> given;
    std::unordered_map<uint64_t, Owned<T>> chosen;
  };

  template <typename T>
  uint64_t add(Registry<T>& registry, Owned<T> element, uint64_t wanted, std::string& problem);
  template <typename T>
  uint64_t add_locked(Registry<T>& registry, Owned<T> element, uint64_t wanted,
                      std::string& problem);
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
  AppendTable<const Schema*> numbered_;  // those registered, in their order
  Registry<EnumType> enums_;
  Registry<Scope> scopes_;
  Registry<Counter> counters_;
  Registry<TimeDomain> time_domains_;
};

}  // namespace nvtx_perfetto
