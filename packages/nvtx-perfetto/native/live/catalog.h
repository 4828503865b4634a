// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "live/definition.h"
#include "model/scope_path.h"
#include "model/time_source.h"
#include "payload/counter_fields.h"
#include "payload/decoder.h"
#include "payload/schema_builder.h"

namespace nvtx_perfetto::live {

// One field of a counter, drawn on a track of its own.
struct CounterField {
  std::string name;  // `group.field`, or the counter's
  std::string description;
  size_t offset = 0;  // in a sample
  TypeInfo value;
  CounterSemantics semantics;
  CounterScale scale;
  uint32_t state = 0;  // place among the file's counter states
};

struct LiveCounter {
  std::string name;
  std::string description;
  uint64_t scope = 0;
  uint64_t time_domain = 0;
  const Schema* schema = nullptr;  // null for numbers sampled one by one
  int timestamp = -1;              // the entry that holds a sample's own time
  size_t sample_size = 8;
  std::vector<CounterField> fields;
};

// What is registered in one domain.
class LiveDomain final : public TypeLookup {
 public:
  std::string name;        // as registered
  std::string shown_name;  // without commas, which would split the engine's list

  const Schema* find_schema(uint64_t id) const override;
  const EnumType* find_enum(uint64_t id) const override;
  // By the number that packed rows hold; null for one that is none.
  const Schema* numbered_schema(uint32_t number) const;
  const std::vector<ScopeNode>* find_scope(uint64_t id) const;
  const LiveCounter* find_counter(uint32_t id) const;
  const TimeDomain* find_time_domain(uint64_t id) const;
  // The time domain that was registered for a scope; 0: none.
  uint64_t time_domain_of(uint64_t scope) const;
  std::string category_name(uint32_t category) const;

 private:
  friend class Catalog;
  std::unordered_map<uint32_t, std::string> categories_;
  std::unordered_map<uint64_t, std::unique_ptr<Schema>> schemas_;
  std::vector<const Schema*> numbered_;
  std::unordered_map<uint64_t, std::unique_ptr<EnumType>> enums_;
  std::unordered_map<uint64_t, std::vector<ScopeNode>> scopes_;
  std::unordered_map<uint32_t, std::unique_ptr<LiveCounter>> counters_;
  std::unordered_map<uint64_t, std::unique_ptr<TimeDomain>> time_domains_;
  std::unordered_map<uint64_t, uint64_t> scope_times_;
};

// The definitions of a live file, read back. Used by one drain at a time.
class Catalog final : public StringLookup {
 public:
  Catalog();
  void apply(const DefinitionHead& head, std::string_view body);

  const std::string* string(uint32_t index) const {
    return index - 1 < strings_.size() ? &strings_[index - 1] : nullptr;
  }
  const std::string* find_string(uint64_t handle) const override;
  const LiveDomain& domain(uint32_t index) const;
  // Null when the program gave it no name.
  const std::string* thread_name(int32_t tid) const;
  uint64_t bad_definitions() const { return bad_definitions_; }

 private:
  LiveDomain& domain_at(uint32_t index);
  void add_schema(LiveDomain& domain, uint64_t id, std::string_view body);
  void add_enum(LiveDomain& domain, uint64_t id, std::string_view body);
  void add_scope(LiveDomain& domain, uint64_t id, std::string_view body);
  void add_counter(LiveDomain& domain, uint64_t id, std::string_view body);
  static void find_timestamp(LiveCounter& counter);
  void add_fields(LiveCounter& counter, const CounterSemantics& semantics);
  void add_time_domain(LiveDomain& domain, uint64_t id, std::string_view body);

  std::deque<std::string> strings_;
  std::vector<std::unique_ptr<LiveDomain>> domains_;
  std::unordered_map<int32_t, std::string> thread_names_;
  uint32_t counter_states_ = 0;
  uint64_t bad_definitions_ = 0;
};

}  // namespace nvtx_perfetto::live
