// SPDX-License-Identifier: Apache-2.0
#include "doors/killed_session.h"

#include <algorithm>
#include <cstring>

#include "doors/record_replay.h"

namespace nvtx_perfetto {
namespace {

constexpr uint64_t kLeastMemory = 64 << 10;

bool is_whole(const SpillBlock& block, SpillKind kind) {
  return block.whole == 1 && block.kind == static_cast<uint32_t>(kind);
}

bool is_run(const SpillBlock& block) {
  switch (static_cast<SpillKind>(block.kind)) {
    case SpillKind::kEvents:
    case SpillKind::kHalves:
    case SpillKind::kSamples:
    case SpillKind::kRangeHalves:
    case SpillKind::kDeferred: return true;
    default: return false;
  }
}

}  // namespace

SpillReader::Found KilledSession::open(const std::string& spill_path) {
  SpillReader::Found found = file_.open(spill_path);
  bool readable = found != SpillReader::Found::kDead || read_session();
  return readable ? found : SpillReader::Found::kUnreadable;
}

bool KilledSession::read_session() {
  bool any = false;
  auto read = [&](const DefinitionHead& head, std::string_view body) {
    std::string_view rest;
    SessionFacts facts;
    if (head.kind == static_cast<uint32_t>(DefinitionKind::kSession) &&
        read_facts(body, facts, rest)) {
      any = true;
      identity_.seed = head.id;
      name_ = rest;
      config_.time_offset = facts.time_offset;
      config_.max_size = facts.max_size;
      config_.memory = std::max(facts.memory, kLeastMemory);
      config_.host_snapshot = facts.host_snapshot != 0;
      config_.unrelated_clocks = facts.unrelated_clocks != 0;
    } else if (head.kind == static_cast<uint32_t>(DefinitionKind::kHostTimes) &&
               body.size() == sizeof(HostTimes)) {
      std::memcpy(&identity_.host_times.emplace(), body.data(), body.size());
    }
    return true;
  };
  file_.each_block([&](const SpillBlock& block, std::string_view bytes) {
    if (is_whole(block, SpillKind::kDefinitions)) each_definition(bytes, read);
    if (is_whole(block, SpillKind::kEnding)) kept_output_ = block.subject;
  });
  identity_.recovered = true;
  return any;
}

// All definitions come first: a run may have been written before those of others that its
// rows do not need, but never before its own.
void KilledSession::replay(Session& session, HandleTable<Stream>& table) {
  DefinitionReplay definitions(session, table);
  file_.each_block([&](const SpillBlock& block, std::string_view bytes) {
    if (is_whole(block, SpillKind::kDefinitions)) definitions.apply(bytes);
  });
  RecordReplay records(definitions);
  file_.each_block([&](const SpillBlock& block, std::string_view bytes) {
    if (!is_run(block)) return;
    if (block.whole != 1 || !records.add(block, bytes)) ++unreadable_;
  });
  rows_ = records.rows();
}

std::string KilledSession::write(const std::string& trace_path, uint64_t output_size) {
  config_.output = trace_path;
  config_.overwrite = true;
  if (config_.max_size != 0) {
    config_.max_size = config_.max_size > output_size ? config_.max_size - output_size : 1;
  }
  HandleTable<Stream> table(0xA3);
  Session session(name_, config_, table, identity_);
  if (session.begin() != Status::kOk) return last_error();
  replay(session, table);
  Summary& summary = session.shop().summary;
  summary.add(Count::kKilledSessions);
  summary.add(Count::kRecoveredRows, rows_);
  summary.add(Count::kUnreadableRuns, unreadable_);
  session.end();  // what is lost is counted there
  return session.output_error();
}

}  // namespace nvtx_perfetto
