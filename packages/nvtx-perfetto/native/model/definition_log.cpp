// SPDX-License-Identifier: Apache-2.0
#include "model/definition_log.h"

#include "model/domain.h"

namespace nvtx_perfetto {
namespace {

constexpr size_t kBlock = 1 << 20;

void append(ByteBuffer& out, DefinitionKind kind, uint32_t domain, uint64_t id,
            std::string_view body) {
  out.append_value(DefinitionHead{body.size(), static_cast<uint32_t>(kind), domain, id});
  out.append(body.data(), body.size());
}

}  // namespace

void DefinitionLog::add_held(DefinitionKind kind, uint32_t domain, uint64_t id,
                             std::string_view body) {
  if (active()) append(pending_, kind, domain, id, body);
}

void DefinitionLog::add_domain(const Domain& domain) {
  auto held = hold();
  add_held(DefinitionKind::kDomain, domain.serial(), 0, domain.name());
  domains_.push_back({&domain, 0});
}

bool DefinitionLog::save() {
  auto held = hold();
  if (!active()) {
    pending_.release();
    return true;
  }
  if (!write(pending_)) return false;
  pending_.release();
  bool good = true;
  for (DomainStrings& strings : domains_) good = good && save_strings(strings);
  return good;
}

bool DefinitionLog::save_strings(DomainStrings& strings) {
  uint64_t size = strings.domain->strings();
  ByteBuffer block;
  while (strings.saved < size) {
    uint64_t next = strings.saved;
    for (; next < size && block.size() < kBlock; ++next) {
      uint64_t handle = strings.domain->dynamic_id(next);
      append(block, DefinitionKind::kString, strings.domain->serial(), handle,
             *strings.domain->find_string(handle));
    }
    if (!write(block)) return false;
    block.clear();
    strings.saved = next;
  }
  return true;
}

bool DefinitionLog::write(const ByteBuffer& definitions) {
  if (definitions.empty()) return true;
  SpillLabel label;
  label.kind = SpillKind::kDefinitions;
  int64_t at = file_.allocate(definitions.size(), label);
  return at >= 0 && file_.write_at(at, definitions.data(), definitions.size()) && file_.finish(at);
}

}  // namespace nvtx_perfetto
