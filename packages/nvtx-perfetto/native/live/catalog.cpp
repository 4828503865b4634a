// SPDX-License-Identifier: Apache-2.0
#include "live/catalog.h"

#include <algorithm>

#include "live/attribute_copy.h"
#include "live/layout.h"
#include "live/registry.h"

namespace nvtx_perfetto::live {
namespace {

std::string without_commas(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), ',', ';');
  return out;
}

// Predefined schemas are the same for every domain, and made once.
constexpr uint32_t kTypes = 128;
const Schema* predefined(uint64_t type) {
  static const auto* schemas = [] {
    auto* all = new std::vector<std::unique_ptr<Schema>>;
    for (uint64_t t = 0; t < kTypes; ++t) all->push_back(predefined_schema(t));
    return all;
  }();
  return type < kTypes ? (*schemas)[type].get() : nullptr;
}

template <typename Map, typename Key>
auto* find_in(const Map& map, Key key) {
  auto found = map.find(key);
  return found == map.end() ? nullptr : found->second.get();
}

}  // namespace

const Schema* LiveDomain::find_schema(uint64_t id) const {
  return id < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START ? predefined(id) : find_in(schemas_, id);
}

const Schema* LiveDomain::numbered_schema(uint32_t number) const {
  if (number < kTypes) return predefined(number);
  return number - kTypes < numbered_.size() ? numbered_[number - kTypes] : nullptr;
}

const EnumType* LiveDomain::find_enum(uint64_t id) const { return find_in(enums_, id); }

const LiveCounter* LiveDomain::find_counter(uint32_t id) const { return find_in(counters_, id); }

const TimeDomain* LiveDomain::find_time_domain(uint64_t id) const {
  return find_in(time_domains_, id);
}

uint64_t LiveDomain::time_domain_of(uint64_t scope) const {
  auto found = scope_times_.find(scope);
  return found == scope_times_.end() ? 0 : found->second;
}

const std::vector<ScopeNode>* LiveDomain::find_scope(uint64_t id) const {
  auto found = scopes_.find(id);
  return found == scopes_.end() ? nullptr : &found->second;
}

std::string LiveDomain::category_name(uint32_t category) const {
  auto found = categories_.find(category);
  if (found != categories_.end() && !found->second.empty()) return found->second;
  return "category " + std::to_string(category);
}

Catalog::Catalog() { domain_at(0).shown_name = "NVTX"; }

LiveDomain& Catalog::domain_at(uint32_t index) {
  index = std::min(index, kMaxDomains - 1);
  if (domains_.size() <= index) domains_.resize(index + 1);
  if (!domains_[index]) domains_[index] = std::make_unique<LiveDomain>();
  return *domains_[index];
}

const LiveDomain& Catalog::domain(uint32_t index) const {
  bool known = index < domains_.size() && domains_[index];
  return known ? *domains_[index] : *domains_[0];
}

const std::string* Catalog::find_string(uint64_t handle) const {
  return string(Registry::string_index(handle));
}

const std::string* Catalog::thread_name(int32_t tid) const {
  auto found = thread_names_.find(tid);
  return found == thread_names_.end() ? nullptr : &found->second;
}

void Catalog::apply(const DefinitionHead& head, std::string_view body) {
  LiveDomain& domain = domain_at(head.domain);
  switch (static_cast<DefinitionKind>(head.kind)) {
    case DefinitionKind::kDomain: {
      LiveDomain& fresh = domain_at(static_cast<uint32_t>(head.id));
      fresh.name = std::string(body);
      fresh.shown_name = without_commas(body);
      break;
    }
    case DefinitionKind::kString:
      // They come in the order of their indices; anything else is no string of ours.
      if (head.id == strings_.size() + 1) {
        strings_.emplace_back(body);
      } else {
        ++bad_definitions_;
      }
      break;
    case DefinitionKind::kCategory:
      domain.categories_[static_cast<uint32_t>(head.id)] = without_commas(body);
      break;
    case DefinitionKind::kThreadName:
      thread_names_[static_cast<int32_t>(head.id)] = std::string(body);
      break;
    case DefinitionKind::kSchema: add_schema(domain, head.id, body); break;
    case DefinitionKind::kEnum: add_enum(domain, head.id, body); break;
    case DefinitionKind::kScope: add_scope(domain, head.id, body); break;
    case DefinitionKind::kCounter: add_counter(domain, head.id, body); break;
    case DefinitionKind::kTimeDomain: add_time_domain(domain, head.id, body); break;
    default: ++bad_definitions_;
  }
}

void Catalog::add_schema(LiveDomain& domain, uint64_t id, std::string_view body) {
  SchemaCopy copy;
  if (copy.read(body)) {
    BuiltSchema built = build_schema(copy.attributes(), domain);
    if (built.schema) {
      built.schema->id = id;
      built.schema->number = kTypes + static_cast<uint32_t>(domain.numbered_.size());
      auto [found, fresh] = domain.schemas_.emplace(id, std::move(built.schema));
      if (fresh) domain.numbered_.push_back(found->second.get());
      return;
    }
  }
  ++bad_definitions_;
}

void Catalog::add_enum(LiveDomain& domain, uint64_t id, std::string_view body) {
  EnumCopy copy;
  if (copy.read(body)) {
    BuiltEnum built = build_enum(copy.attributes());
    if (built.type) {
      built.type->id = id;
      domain.enums_.emplace(id, std::move(built.type));
      return;
    }
  }
  ++bad_definitions_;
}

void Catalog::add_scope(LiveDomain& domain, uint64_t id, std::string_view body) {
  ScopeCopy copy;
  if (!copy.read(body)) {
    ++bad_definitions_;
    return;
  }
  std::vector<ScopeNode> path;
  if (const auto* above = domain.find_scope(copy.parent)) path = *above;
  for (ScopeNode& node : parse_scope_path(copy.path.c_str())) path.push_back(std::move(node));
  domain.scopes_.emplace(id, std::move(path));
}

void Catalog::add_time_domain(LiveDomain& domain, uint64_t id, std::string_view body) {
  TimeDomainCopy copy;
  if (!copy.read(body)) {
    ++bad_definitions_;
    return;
  }
  auto made = std::make_unique<TimeDomain>();
  *made = {id, copy.type, copy.resolution, copy.start};
  domain.time_domains_.emplace(id, std::move(made));
  if (copy.scope != NVTX_SCOPE_NONE) domain.scope_times_[copy.scope] = id;
}

void Catalog::find_timestamp(LiveCounter& counter) {
  const auto& entries = counter.schema->entries;
  auto found = std::find_if(entries.begin(), entries.end(), [](const SchemaEntry& entry) {
    return entry.role == EntryRole::kTimestamp || entry.role == EntryRole::kMark ||
           entry.role == EntryRole::kBegin;
  });
  if (found == entries.end()) return;
  counter.timestamp = static_cast<int>(found - entries.begin());
  if (found->time_domain != 0) counter.time_domain = found->time_domain;
}

void Catalog::add_fields(LiveCounter& counter, const CounterSemantics& semantics) {
  for (CounterPlace& place : counter_places(*counter.schema, counter.timestamp, counter.name)) {
    if (counter_states_ == kMaxCounterStates) {
      ++bad_definitions_;
      return;
    }
    const SchemaEntry& entry = *place.entry;
    CounterField field;
    field.name = std::move(place.name);
    field.offset = place.offset;
    field.value = entry.value;
    field.semantics = entry.counter.given ? entry.counter : semantics;
    field.description = describe_counter_semantics(
        entry.description.empty() ? counter.description : entry.description, field.semantics);
    field.scale = counter_scale(field.semantics, entry.value);
    field.state = counter_states_++;
    counter.fields.push_back(std::move(field));
  }
}

void Catalog::add_counter(LiveDomain& domain, uint64_t id, std::string_view body) {
  CounterCopy copy;
  if (!copy.read(body)) {
    ++bad_definitions_;
    return;
  }
  auto counter = std::make_unique<LiveCounter>();
  counter->name = copy.name;
  counter->description = copy.description;
  counter->scope = copy.scope;
  Semantics semantics = read_semantics(copy.semantics());
  counter->time_domain = semantics.time_domain;
  counter->schema = domain.find_schema(copy.schema);
  bool group = copy.schema >= NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
  if (!counter->schema || (group && !counter->schema->fixed)) {
    ++bad_definitions_;
    return;
  }
  counter->sample_size = group ? counter->schema->size : counter->schema->entries[0].value.size;
  find_timestamp(*counter);
  add_fields(*counter, semantics.counter);
  domain.counters_.emplace(static_cast<uint32_t>(id), std::move(counter));
}

}  // namespace nvtx_perfetto::live
