// SPDX-License-Identifier: Apache-2.0
#include "live/registry.h"

#include <algorithm>
#include <cstring>

namespace nvtx_perfetto::live {
namespace {

// What one process may define, in bytes; a program whose texts never repeat stops here.
constexpr size_t kMaxDefinitions = 64 << 20;

bool names_default(const std::string& text) { return text == "NVTX" || text == "default"; }

bool listed(const std::vector<std::string>& names, std::string_view name, bool is_default) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& one) {
    return is_default ? names_default(one) : one == name;
  });
}

}  // namespace

bool DomainFilter::admits(std::string_view name) const {
  bool is_default = name.empty();
  if (listed(excluded, name, is_default)) return false;
  return included.empty() || listed(included, name, is_default);
}

Registry::Registry(DomainFilter filter) : filter_(std::move(filter)) {
  domains_.emplace_back();
  domains_[0].enabled = filter_.admits("");
  state_[0].store(2 | (domains_[0].enabled ? 1 : 0));
}

uint64_t Registry::handle_of(uint32_t index) const {
  return kDomainTag << 48 | uint64_t{domains_[index].generation} << 16 | index;
}

uint64_t Registry::create_domain(std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string key(name);
  auto found = domain_names_.find(key);
  uint32_t index;
  if (found != domain_names_.end()) {
    index = found->second;
  } else {
    index = static_cast<uint32_t>(domains_.size());
    bool room = index < kMaxDomains - 1;
    if (!room) index = kMaxDomains - 1;
    if (index == domains_.size()) domains_.emplace_back();
    // The last place stands for all domains that are too many.
    domains_[index].enabled = room && filter_.admits(name);
    if (room) {
      domain_names_.emplace(key, index);
      if (!write(DefinitionKind::kDomain, 0, index, name)) domains_[index].enabled = false;
    } else {
      refuse(1);
    }
  }
  Domain& domain = domains_[index];
  ++domain.users;
  state_[index].store(uint64_t{domain.generation} << 1 | (domain.enabled ? 1 : 0),
                      std::memory_order_relaxed);
  return handle_of(index);
}

void Registry::destroy_domain(uint64_t handle) {
  uint32_t index;
  std::lock_guard<std::mutex> lock(mutex_);
  if (handle == 0 || find_domain(handle, index) == Lookup::kBad) return;
  Domain& domain = domains_[index];
  if (--domain.users > 0) return;
  // Its place stays its own; the handle does not.
  ++domain.generation;
  state_[index].store(uint64_t{domain.generation} << 1, std::memory_order_relaxed);
}

uint64_t Registry::register_string(uint32_t domain, std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string key = std::to_string(domain) + ' ' + std::string(text);
  auto found = texts_.find(key);
  if (found != texts_.end()) return found->second;
  uint32_t index = strings_.load(std::memory_order_relaxed) + 1;
  if (!write(DefinitionKind::kString, domain, index, text)) return 0;
  strings_.store(index, std::memory_order_relaxed);
  uint64_t handle = kStringTag << 48 | index;
  texts_.emplace(std::move(key), handle);
  return handle;
}

uint64_t Registry::define(DefinitionKind kind, uint32_t domain, uint64_t id, std::string_view body,
                          uint64_t dynamic_start) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (id == 0 && dynamic_start != 0) id = dynamic_start + next_dynamic_++;
  if (!write(kind, domain, id, body)) return 0;
  learn_layout(kind, domain, id, body);
  return id;
}

void Registry::learn_layout(DefinitionKind kind, uint32_t domain, uint64_t id,
                            std::string_view body) {
  bool layout = kind == DefinitionKind::kSchema || kind == DefinitionKind::kEnum ||
                kind == DefinitionKind::kCounter;
  if (!layout) return;
  DefinitionHead head{};
  head.kind = static_cast<uint16_t>(kind);
  head.domain = static_cast<uint16_t>(domain);
  head.id = id;
  layouts_.apply(head, body);
}

bool Registry::write(DefinitionKind kind, uint32_t domain, uint64_t id, std::string_view body) {
  size_t before = log_.size();
  bool room = body.size() + sizeof(DefinitionHead) <= kMaxDefinition - 8 &&
              before + body.size() < kMaxDefinitions;
  if (room) {
    add_definition(log_, kind, domain, id, body);
    room = !writer_ || writer_->append(log_.data() + before, log_.size() - before) == 0;
    if (!room) log_.truncate(before);
  }
  if (!room) refuse(1);
  return room;
}

void Registry::refuse(uint64_t much) {
  refused_ += much;
  if (writer_) writer_->refuse(much);
}

size_t Registry::row_size(uint32_t domain, uint64_t schema) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Schema* found = layouts_.domain(domain).find_schema(schema);
  return found && found->fixed ? found->size : 0;
}

size_t Registry::sample_size(uint32_t domain, uint32_t counter) {
  std::lock_guard<std::mutex> lock(mutex_);
  const LiveCounter* found = layouts_.domain(domain).find_counter(counter);
  return found ? found->sample_size : 0;
}

void Registry::mirror_to(DefinitionWriter* writer) {
  std::lock_guard<std::mutex> lock(mutex_);
  writer_ = writer;
  if (!writer_) return;
  writer_->refuse(refused_ + writer_->append(log_.data(), log_.size()));
}

}  // namespace nvtx_perfetto::live
