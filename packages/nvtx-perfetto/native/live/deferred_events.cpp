// SPDX-License-Identifier: Apache-2.0
#include "live/deferred_events.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <cstring>

namespace nvtx_perfetto::live {
namespace {

// What sorting may hold in a process that is about to end; more goes to a temporary file.
constexpr size_t kSortMemory = 64 << 20;

}  // namespace

class DeferredEvents::Names final : public EventNames {
 public:
  Names(const Catalog& catalog, uint32_t domain) : catalog_(catalog), domain_(domain) {}
  const std::string& shown_name() const override { return catalog_.domain(domain_).shown_name; }
  std::string category_name(uint32_t category) const override {
    return catalog_.domain(domain_).category_name(category);
  }
  uint64_t first_category_key() const override { return (uint64_t{domain_} + 1) << 32; }
  const std::string* find_string(uint64_t handle) const override {
    return catalog_.find_string(handle);
  }
  const Schema* numbered_schema(uint32_t number) const override {
    return catalog_.domain(domain_).numbered_schema(number);
  }

 private:
  const Catalog& catalog_;
  const uint32_t domain_;
};

struct DeferredEvents::DomainEvents {
  DomainEvents(const Catalog& catalog, uint32_t index, Summary& summary, const FlowTable& flows)
      : names(catalog, index), emitter(names, summary, flows) {}
  Names names;
  EventEmitter emitter;
  std::map<uint64_t, Track> tracks;  // by parent
};

DeferredEvents::DeferredEvents(const Parts& parts)
    : parts_(parts), budget_(kSortMemory), spill_(folder_of(parts.part.path())),
      flows_(budget_, spill_, summary_), tracks_(parts.part, parts.sequence, parts.seed, {}),
      out_(parts.part, parts.ids), range_halves_(budget_, spill_, summary_) {}

DeferredEvents::~DeferredEvents() = default;

DeferredEvents::DomainEvents& DeferredEvents::domain(uint32_t index) {
  auto& found = domains_[index];
  if (!found) found = std::make_unique<DomainEvents>(parts_.catalog, index, summary_, flows_);
  return *found;
}

DeferredEvents::Track& DeferredEvents::track(DomainEvents& domain, uint64_t parent) {
  Track& found = domain.tracks[parent];
  if (!found.events) {
    Workshop shop{tracks_, summary_, budget_, spill_, flows_};
    found.events = std::make_unique<EventTrack>(shop, out_, domain.emitter, parent,
                                                domain.names.shown_name() + " deferred");
    found.events->set_clock(kRealtime);
    found.number = static_cast<uint32_t>(all_tracks_.size());
    all_tracks_.push_back(found.events.get());
  }
  return found;
}

void DeferredEvents::add(const Origin& origin, const RecordView& record) {
  uint32_t index = record.head->domain;
  Batch batch{&domain(index), &origin, index, NVTX_SCOPE_NONE};
  if (!record.bytes) return;
  record.head->kind == kEvent ? add_payloads(batch, record) : add_rows(batch, record);
}

// One event of several payloads.
void DeferredEvents::add_payloads(const Batch& batch, const RecordView& record) {
  Row rows[kMostRows];
  uint32_t count = 0;
  const uint8_t* at = record.data();
  const uint8_t* end = at + record.bytes->size;
  while (count < kMostRows && static_cast<size_t>(end - at) >= sizeof(PayloadHead)) {
    PayloadHead head;
    std::memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    if (head.size > static_cast<size_t>(end - at)) break;
    const Schema* schema = parts_.catalog.domain(batch.domain_index).find_schema(head.schema);
    if (!schema) summary_.add(Count::kBadIds);
    if (schema && head.size > 0) rows[count++] = {schema, at, static_cast<size_t>(head.size)};
    at += std::min(padded8(head.size), static_cast<size_t>(end - at));
  }
  if (count > 0) add_event(batch, rows, count);
}

// Events of one schema, one after the other.
void DeferredEvents::add_rows(Batch batch, const RecordView& record) {
  EventBatchHead head;
  if (record.bytes->size < sizeof(head)) return;
  std::memcpy(&head, record.data(), sizeof(head));
  const Schema* schema = parts_.catalog.domain(batch.domain_index).find_schema(head.schema);
  size_t room = record.bytes->size - sizeof(head);
  size_t count = record.bytes->count;
  if (!schema || schema->size != head.row_size || count * head.row_size > room) {
    summary_.add(Count::kBadIds, count);
    return;
  }
  batch.scope = head.scope;
  Row row{schema, record.data() + sizeof(head), schema->size};
  if (head.flags == NVTX_BATCH_FLAG_TIME_SORTED) check_order(row, count);
  for (size_t i = 0; i < count; ++i, row.data += schema->size) add_event(batch, &row, 1);
}

// A batch's word on its order is not needed here, but a broken one is told.
void DeferredEvents::check_order(const Row& first, size_t count) {
  int begin = first.schema->plan.begin;
  uint64_t before = 0;
  Row row = first;
  for (size_t i = 0; i < count && begin >= 0; ++i, row.data += first.size) {
    uint64_t time;
    if (!load_entry(row, begin, time)) return;
    if (i > 0 && static_cast<int64_t>(time) < static_cast<int64_t>(before)) {
      return summary_.add(Count::kOrderBreaks);
    }
    before = time;
  }
}

bool DeferredEvents::load_time(const Batch& batch, const Row& row, int entry, uint64_t scope,
                               int64_t& time) {
  uint64_t ticks;
  const SchemaEntry& field = row.schema->entries[static_cast<size_t>(entry)];
  if (!is_integer(field.value.kind) || !load_entry(row, entry, ticks)) {
    summary_.add(Count::kBadIds);
    return false;
  }
  uint64_t time_domain = field.time_domain;
  if (time_domain == 0) {
    time_domain = parts_.catalog.domain(batch.domain_index).time_domain_of(scope);
  }
  auto answer =
      parts_.timeline.place(batch.domain_index, time_domain, static_cast<int64_t>(ticks), time);
  if (answer == Timeline::Answer::kUntied) summary_.add(Count::kDroppedUntied);
  if (answer == Timeline::Answer::kBeyond) summary_.add(Count::kDroppedTimes);
  return answer == Timeline::Answer::kPlaced;
}

void DeferredEvents::add_event(const Batch& batch, const Row* rows, uint32_t count) {
  EventRoles roles(rows, count);
  if (!roles.complete()) return summary_.add(Count::kBadIds);
  uint64_t scope = scope_of(batch, rows, count);
  Event event;
  if (!load_time(batch, *roles.begin, roles.begin_entry(), scope, event.begin)) return;
  event.end = event.begin;
  if (roles.is_range() &&
      !load_time(batch, *roles.end, roles.end->schema->plan.end, scope, event.end)) {
    return;
  }
  if (event.end < event.begin) return summary_.add(Count::kEndsBeforeBegin);
  event.rows = rows;
  event.row_count = count;
  keep(roles, event, track(*batch.domain, parent_of(batch, rows, count, scope)));
  relieve();
}

void DeferredEvents::keep(const EventRoles& roles, Event event, Track& track) {
  flows_.enter(event, roles.closes(), track.number);
  uint64_t id = 0;
  if (roles.by_id() && !load_entry(*roles.range_id, roles.range_id->schema->plan.range_id, id)) {
    return summary_.add(Count::kBadIds);
  }
  switch (roles.kind) {
    case EventKind::kPush:
    case EventKind::kPop:
      return track.events->keep_half(roles.kind == EventKind::kPush, event.begin, event.rows,
                                     event.row_count, event.has_flows, event.first_flow);
    case EventKind::kStart:
    case EventKind::kEnd:
      return range_halves_.keep({roles.kind == EventKind::kStart, id, event.begin,
                                 track.events.get(), event.rows, event.row_count, event.has_flows,
                                 event.first_flow});
    case EventKind::kMark: event.shape = Shape::kInstant; break;
    case EventKind::kStartEnd: event.shape = Shape::kAsync; break;
    default: break;
  }
  track.events->keep(event);
}

// The scope that a payload names comes before the batch's.
uint64_t DeferredEvents::scope_of(const Batch& batch, const Row* rows, uint32_t count) const {
  uint64_t scope = batch.scope;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t own = 0;
    int entry = rows[i].schema->plan.scope;
    if (entry >= 0 && load_entry(rows[i], entry, own) && own != NVTX_SCOPE_NONE) scope = own;
  }
  return scope;
}

uint64_t DeferredEvents::scope_track(const Batch& batch, uint64_t scope) {
  switch (scope) {
    case NVTX_SCOPE_CURRENT_SW_PROCESS: return parts_.scopes.own_process();
    case NVTX_SCOPE_CURRENT_SW_THREAD:
    case NVTX_SCOPE_CURRENT_SW_INNERMOST: return parts_.scopes.own_thread(batch.origin->serial);
    default: break;
  }
  // Those of the machine and what lies between it and the process; one recording has one each.
  if (scope < NVTX_SCOPE_ID_STATIC_START) return parts_.scopes.root();
  const auto* path = parts_.catalog.domain(batch.domain_index).find_scope(scope);
  if (!path) summary_.add(Count::kBadIds);
  return path ? parts_.scopes.path(*path) : parts_.scopes.root();
}

uint64_t DeferredEvents::parent_of(const Batch& batch, const Row* rows, uint32_t count,
                                   uint64_t scope) {
  uint64_t pid = 0;
  uint64_t tid = 0;
  bool has_pid = false;
  bool has_tid = false;
  for (uint32_t i = 0; i < count; ++i) {
    const EventPlan& plan = rows[i].schema->plan;
    if (plan.pid >= 0) has_pid = load_entry(rows[i], plan.pid, pid);
    if (plan.tid >= 0) has_tid = load_entry(rows[i], plan.tid, tid);
  }
  if (!has_pid && has_tid) pid = static_cast<uint64_t>(parts_.scopes.own_pid());
  if (has_tid) return parts_.scopes.thread(pid, tid);
  return has_pid ? parts_.scopes.process(pid) : scope_track(batch, scope);
}

void DeferredEvents::relieve() {
  if (!budget_.exceeded()) return;
  auto most = std::max_element(
      all_tracks_.begin(), all_tracks_.end(),
      [](const EventTrack* a, const EventTrack* b) { return a->memory() < b->memory(); });
  if (most != all_tracks_.end()) (*most)->spill();
}

void DeferredEvents::finish() {
  if (!flows_.resolve()) summary_.add(Count::kDroppedByError);
  range_halves_.pair();
  for (EventTrack* each : all_tracks_) {
    each->finish();
    if (each->lost()) summary_.add(Count::kDroppedByError, each->lost());
  }
  for (auto& [index, found] : domains_) found->emitter.count();
  out_.release();
  tracks_.flush();
  if (budget_.runs()) summary_.add(Count::kSpilledRuns, budget_.runs());
}

}  // namespace nvtx_perfetto::live
