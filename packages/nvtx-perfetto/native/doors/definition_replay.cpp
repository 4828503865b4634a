// SPDX-License-Identifier: Apache-2.0
#include "doors/definition_replay.h"

#include <cmath>

#include "doors/nvtxw_structs.h"
#include "live/attribute_copy.h"

namespace nvtx_perfetto {
namespace {

// What to ask for to get an id again: the caller's own, or 0 for one that the library gives.
uint64_t wanted(uint64_t id) { return id < kFirstDynamicId ? id : 0; }

bool add_scope(Domain& domain, uint64_t id, std::string_view body) {
  live::ScopeCopy copy;
  std::string problem;
  return copy.read(body) &&
         domain.add_scope(copy.path.c_str(), copy.parent, wanted(id), problem) == id;
}

bool add_schema(Domain& domain, uint64_t id, std::string_view body) {
  live::SchemaCopy copy;
  if (!copy.read(body)) return false;
  BuiltSchema built = build_schema(copy.attributes(), domain);
  std::string problem;
  return built.schema && domain.add_schema(std::move(built.schema), wanted(id), problem) == id;
}

bool add_enum(Domain& domain, uint64_t id, std::string_view body) {
  live::EnumCopy copy;
  if (!copy.read(body)) return false;
  BuiltEnum built = build_enum(copy.attributes());
  std::string problem;
  return built.type && domain.add_enum(std::move(built.type), wanted(id), problem) == id;
}

bool add_counter(Domain& domain, uint64_t id, std::string_view body) {
  live::CounterCopy copy;
  if (!copy.read(body)) return false;
  nvtxCounterAttr_t given = {};
  given.structSize = sizeof(given);
  given.schemaId = copy.schema;
  given.scopeId = copy.scope;
  given.name = copy.name.c_str();
  given.description = copy.description.c_str();
  given.semantics = copy.semantics();
  Counter counter;
  std::string problem;
  return read_counter(given, domain, counter) == Status::kOk &&
         domain.add_counter(std::move(counter), wanted(id), problem) == id;
}

bool add_time_domain(Domain& domain, uint64_t id, std::string_view body) {
  TimeDomainFacts facts;
  std::string_view rest;
  if (!read_facts(body, facts, rest)) return false;
  TimeDomain given{wanted(id), facts.timestamp_type, facts.resolution, facts.start};
  std::string problem;
  return check_time_domain(given) == Status::kOk && domain.add_time_domain(given, problem) == id;
}

}  // namespace

bool DefinitionReplay::apply(std::string_view definitions) {
  good_ =
      good_ && each_definition(definitions, [&](const DefinitionHead& head, std::string_view body) {
        return apply_one(head, body);
      });
  return good_;
}

bool DefinitionReplay::apply_one(const DefinitionHead& head, std::string_view body) {
  switch (static_cast<DefinitionKind>(head.kind)) {
    case DefinitionKind::kSession:
    case DefinitionKind::kHostTimes: return true;  // read before there was a session
    case DefinitionKind::kDomain: return add_domain(head, body);
    case DefinitionKind::kThread:
      session_.shop().tracks.name_thread(head.id, std::string(body));
      return true;
    case DefinitionKind::kPoint:
    case DefinitionKind::kFactor: return tie(static_cast<DefinitionKind>(head.kind), body);
    default: break;
  }
  auto domain = domains_.find(head.domain);
  return domain != domains_.end() && in_domain(*domain->second, head, body);
}

bool DefinitionReplay::in_domain(Domain& domain, const DefinitionHead& head,
                                 std::string_view body) {
  switch (static_cast<DefinitionKind>(head.kind)) {
    case DefinitionKind::kString: return domain.add_string(body) == head.id;
    case DefinitionKind::kCategory:
      domain.name_category(static_cast<uint32_t>(head.id), body);
      return true;
    case DefinitionKind::kScope: return add_scope(domain, head.id, body);
    case DefinitionKind::kSchema: return add_schema(domain, head.id, body);
    case DefinitionKind::kEnum: return add_enum(domain, head.id, body);
    case DefinitionKind::kCounter: return add_counter(domain, head.id, body);
    case DefinitionKind::kTimeDomain: return add_time_domain(domain, head.id, body);
    case DefinitionKind::kStream: return add_stream(head, body);
    default: return false;
  }
}

bool DefinitionReplay::add_domain(const DefinitionHead& head, std::string_view name) {
  // A serial of 0 would make ids that callers may choose.
  if (head.domain == 0 || domains_.count(head.domain)) return false;
  std::shared_ptr<Domain> domain = session_.restore_domain(std::string(name), head.domain);
  domains_[head.domain] = domain.get();
  return domain->serial() == head.domain;
}

bool DefinitionReplay::add_stream(const DefinitionHead& head, std::string_view body) {
  StreamFacts facts;
  std::string_view name;
  if (!read_facts(body, facts, name) || head.id != streams_.size()) return false;
  StreamSpec spec;
  spec.name = name;
  spec.domain = domains_[head.domain];
  spec.scope = facts.scope;
  spec.time_domain = facts.time_domain;
  spec.has_rows = facts.may_pass != 0;
  spec.may_lead = facts.leads != 0;
  std::shared_ptr<Stream> stream;
  if (session_.open_stream(std::move(spec), stream) != Status::kOk) return false;
  session_.opened(table_.add(stream));
  streams_.push_back(std::move(stream));
  return true;
}

bool DefinitionReplay::tie(DefinitionKind kind, std::string_view body) {
  ClockTie tie;
  std::string_view rest;
  if (!read_facts(body, tie, rest)) return false;
  if (kind == DefinitionKind::kPoint) {
    session_.clocks().add_point(tie.from, tie.to, tie.time_from, tie.time_to);
    return true;
  }
  if (!(tie.slope > 0) || !std::isfinite(tie.slope)) return false;
  session_.clocks().add_factor(tie.from, tie.to, tie.slope, tie.time_from, tie.time_to);
  return true;
}

}  // namespace nvtx_perfetto
