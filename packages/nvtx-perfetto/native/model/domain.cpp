// SPDX-License-Identifier: Apache-2.0
#include "model/domain.h"

#include <algorithm>
#include <atomic>

namespace nvtx_perfetto {
namespace {

std::atomic<uint32_t> next_serial{1};

std::string without_commas(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  return text;
}

// Predefined schemas are the same for every domain, made once and never freed: at exit,
// sessions may end after static objects went.
constexpr uint32_t kTypes = 128;
const Schema* predefined(uint64_t type) {
  static const auto& schemas = *[] {
    auto* all = new std::vector<std::unique_ptr<Schema>>;
    for (uint64_t t = 0; t < kTypes; ++t) all->push_back(predefined_schema(t));
    return all;
  }();
  return type < kTypes ? schemas[type].get() : nullptr;
}

}  // namespace

uint32_t Domain::fresh_serial() { return next_serial.fetch_add(1); }

Domain::Domain(std::string name, uint32_t serial)
    : name_(std::move(name)), shown_name_(name_.empty() ? "NVTX" : without_commas(name_)),
      serial_(serial) {}

template <typename T>
uint64_t Domain::add(Registry<T>& registry, Owned<T> element, uint64_t wanted,
                     std::string& problem) {
  std::lock_guard<std::mutex> lock(mutex_);
  return add_locked(registry, std::move(element), wanted, problem);
}

template <typename T>
uint64_t Domain::add_locked(Registry<T>& registry, Owned<T> element, uint64_t wanted,
                            std::string& problem) {
  if (wanted == 0) {
    uint64_t id = dynamic_id(registry.given.size());
    element->id = id;
    registry.given.append(std::move(element));
    return id;
  }
  if (wanted < kFirstStaticId || wanted >= kFirstDynamicId) {
    problem = "the static id " + std::to_string(wanted) + " is outside 2^24 to 2^32 - 1";
    return 0;
  }
  element->id = wanted;
  if (!registry.chosen.emplace(wanted, std::move(element)).second) {
    problem = "the static id " + std::to_string(wanted) + " is registered already";
    return 0;
  }
  return wanted;
}

template <typename T>
const T* Domain::find(const Registry<T>& registry, uint64_t id) const {
  if (id >= kFirstDynamicId) {
    if (id >> 32 != serial_) return nullptr;
    const Owned<T>* found = registry.given.find(id & 0xFFFFFFFFu);
    return found ? found->get() : nullptr;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = registry.chosen.find(id);
  return found == registry.chosen.end() ? nullptr : found->second.get();
}

uint64_t Domain::add_string(std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = string_handles_.find(text);
  if (found != string_handles_.end()) return found->second;
  auto owned = std::make_unique<std::string>(text);
  std::string_view lasting = *owned;
  uint64_t handle = dynamic_id(strings_.append(std::move(owned)));
  string_handles_.emplace(lasting, handle);
  return handle;
}

const std::string* Domain::find_string(uint64_t handle) const {
  if (handle >> 32 != serial_) return nullptr;
  const auto* found = strings_.find(handle & 0xFFFFFFFFu);
  return found ? found->get() : nullptr;
}

void Domain::name_category(uint32_t category, std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  categories_[category] = without_commas(std::string(name));
}

std::string Domain::category_name(uint32_t category) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = categories_.find(category);
  if (found != categories_.end() && !found->second.empty()) return found->second;
  return "category " + std::to_string(category);
}

uint64_t Domain::add_schema(std::unique_ptr<Schema> schema, uint64_t wanted, std::string& problem) {
  if (wanted != 0 && find_enum(wanted)) {
    problem = "the static id " + std::to_string(wanted) + " is an enum's";
    return 0;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  Schema* registered = schema.get();
  registered->number = kTypes + static_cast<uint32_t>(numbered_.size());
  uint64_t id = add_locked(schemas_, std::move(schema), wanted, problem);
  if (id != 0) numbered_.append(registered);
  return id;
}

const Schema* Domain::numbered_schema(uint32_t number) const {
  if (number < kTypes) return predefined(number);
  const Schema* const* found = numbered_.find(number - kTypes);
  return found ? *found : nullptr;
}

uint64_t Domain::add_enum(std::unique_ptr<EnumType> type, uint64_t wanted, std::string& problem) {
  if (wanted != 0 && find(schemas_, wanted)) {
    problem = "the static id " + std::to_string(wanted) + " is a schema's";
    return 0;
  }
  EnumType* registered = type.get();
  uint64_t id = add(enums_, std::move(type), wanted, problem);
  if (id >= kFirstDynamicId) {
    id |= kEnumBit;
    registered->id = id;
  }
  return id;
}

const Schema* Domain::find_schema(uint64_t id) const {
  if (id < kFirstStaticId) return predefined(id);
  return find(schemas_, id);
}

const EnumType* Domain::find_enum(uint64_t id) const {
  if (id >= kFirstDynamicId) return id & kEnumBit ? find(enums_, id & ~kEnumBit) : nullptr;
  return id < kFirstStaticId ? nullptr : find(enums_, id);
}

uint64_t Domain::add_scope(const char* path, uint64_t parent, uint64_t wanted,
                           std::string& problem) {
  const Scope* above = find_scope(parent);
  if (!above) {
    problem = "no scope " + std::to_string(parent) + " in domain " + shown_name_;
    return 0;
  }
  auto scope = std::make_unique<Scope>();
  scope->path = above->path;
  for (ScopeNode& node : parse_scope_path(path)) scope->path.push_back(std::move(node));
  scope->root = scope->path.empty();
  return add(scopes_, std::move(scope), wanted, problem);
}

const Scope* Domain::find_scope(uint64_t id) const {
  // The predefined ones below 32 name where the caller runs; a file has but one such place.
  static const auto& root = *[] {
    auto* scope = new Scope;
    scope->root = true;
    return scope;
  }();
  if (id < kPredefinedScopes) return &root;
  return find(scopes_, id);
}

uint64_t Domain::add_counter(Counter counter, uint64_t wanted, std::string& problem) {
  return add(counters_, std::make_unique<Counter>(std::move(counter)), wanted, problem);
}

const Counter* Domain::find_counter(uint64_t id) const { return find(counters_, id); }

uint64_t Domain::add_time_domain(TimeDomain domain, std::string& problem) {
  uint64_t wanted = domain.id;
  return add(time_domains_, std::make_unique<TimeDomain>(domain), wanted, problem);
}

const TimeDomain* Domain::find_time_domain(uint64_t id) const {
  return id < kFirstStaticId ? nullptr : find(time_domains_, id);
}

}  // namespace nvtx_perfetto
