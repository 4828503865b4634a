// SPDX-License-Identifier: Apache-2.0
#include "model/stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/event_roles.h"
#include "model/packed_event.h"
#include "model/session.h"

namespace nvtx_perfetto {
namespace {

constexpr size_t kMaxEventRows = kMaxRows;

}  // namespace

Stream::Stream(Session& session, StreamSpec spec, uint32_t number)
    : session_(session), spec_(std::move(spec)), number_(number),
      out_(session.sink(), session.sequence_ids()),
      emitter_(*spec_.domain, session.shop().summary, session.shop().flows) {
  passing_ = !spec_.partly &&
             (spec_.ordering == Ordering::kStrict || spec_.ordering == Ordering::kRangeStart);
}

Status Stream::find_source(uint64_t time_domain, TimeSource& source, bool& own) const {
  own = false;
  if (time_domain < kFirstStaticId) {
    auto known = predefined_source(time_domain);
    if (!known) {
      return fail(Status::kInvalid, "unknown timestamp type " + std::to_string(time_domain) +
                                        "; use NVTX_TIMESTAMP_TYPE_* or a registered time domain");
    }
    source = *known;
    return Status::kOk;
  }
  const TimeDomain* domain = spec_.domain->find_time_domain(time_domain);
  if (!domain) {
    return fail(Status::kInvalid, "no time domain " + std::to_string(time_domain) + " in domain " +
                                      spec_.domain->shown_name());
  }
  ClockKey own_key = uint64_t{spec_.domain->serial()} << 32 | (time_domain & 0xFFFFFFFFu);
  source = domain_source(*domain, own_key);
  own = source.key == own_key;
  return Status::kOk;
}

void Stream::set_verdict(ClockPlan::Verdict verdict, ClockKey key) {
  direct_ = verdict == ClockPlan::Verdict::kDirect;
  TimeSource source;
  bool own;
  if (find_source(spec_.time_domain, source, own) == Status::kOk) source_ = source;
  plain_ = direct_ && source_.identity();
  target_ = direct_ ? key : kNoClock;
  if (!direct_) passing_ = false;
}

bool Stream::wait_for_ties() {
  if (!direct_) return true;
  bool untouched = tracks_.empty() && counters_.empty() && newest_ == 0 && !finished_;
  if (untouched) set_verdict(ClockPlan::Verdict::kDeferred, kNoClock);
  return untouched;
}

// The file's time of ticks on the stream's own clock, which the file's is, too.
inline bool Stream::place_own(int64_t ticks, int64_t& time) const {
  const ClockPlan& clocks = session_.clocks();
  return plain_ ? clocks.place_nanoseconds(ticks, time) : clocks.place_direct(source_, ticks, time);
}

// The file's time of ticks. Sets `deferred` when only the session's end can tell.
bool Stream::placed(const TimeSource& source, int64_t ticks, int64_t& time, bool& deferred) {
  const ClockPlan& clocks = session_.clocks();
  if (settled_) return clocks.place(source, ticks, target_, time);
  if (direct_ && source.key == target_) return clocks.place_direct(source, ticks, time);
  int64_t nanoseconds;
  if (source.convert(ticks, nanoseconds)) session_.clocks().note_time(source.key, nanoseconds);
  deferred = true;
  return true;
}

Status Stream::unwritable(int64_t ticks) {
  return fail(Status::kDropped, "the time " + std::to_string(ticks) +
                                    " cannot be written: Perfetto holds 0 to 2^63 - 1 ns;"
                                    " set time_offset to shift the trace");
}

Status Stream::load_time(const Row& row, int entry, int64_t& time, bool& deferred) {
  const SchemaEntry& field = row.schema->entries[static_cast<size_t>(entry)];
  const uint8_t* at = RowLayout(row).at(entry);
  if (!at || !is_integer(field.value.kind)) {
    return fail(Status::kInvalid, "the row of " + std::to_string(row.size) +
                                      " bytes has no time where its schema says it has one");
  }
  int64_t ticks = load_integer(field.value, at);
  TimeSource source = source_;
  if (field.time_domain != 0 && field.time_domain != spec_.time_domain) {
    bool own;
    Status status = find_source(field.time_domain, source, own);
    if (status != Status::kOk) return status;
  }
  return placed(source, ticks, time, deferred) ? Status::kOk : unwritable(ticks);
}

Status Stream::place_times(const EventRoles& roles, Times& times) {
  if (!roles.complete()) {
    return fail(Status::kInvalid,
                "the schemas of this event do not make a mark or a range: a time is missing,"
                " or the range id of a start or an end");
  }
  Status status = load_time(*roles.begin, roles.begin_entry(), times.begin, times.deferred);
  times.end = times.begin;
  if (status == Status::kOk && roles.is_range()) {
    status = load_time(*roles.end, roles.end->schema->plan.end, times.end, times.deferred);
  }
  return status;
}

EventTrack& Stream::new_track(uint64_t parent) {
  auto& slot = by_parent_[parent];
  if (!slot) {
    slot = std::make_unique<EventTrack>(session_.shop(), out_, emitter_, parent, spec_.name);
    slot->set_clock(session_.clocks().written_clock(target_));
    slot->set_stream(number_);
    if (spec_.has_rows) slot->leave_own_track();
    tracks_.push_back(slot.get());
  }
  return *slot;
}

EventTrack& Stream::track(uint64_t scope_id, const Scope& scope) {
  EventTrack*& found = by_scope_[scope_id];
  if (!found) found = &new_track(session_.shop().tracks.scope(scope.path));
  return *found;
}

EventTrack& Stream::track_of(const Row* rows, uint32_t count, uint64_t batch_scope,
                             bool& bad_scope) {
  uint64_t id = batch_scope ? batch_scope : spec_.scope;
  uint64_t pid = 0;
  uint64_t tid = 0;
  bool has_pid = false;
  bool has_tid = false;
  for (uint32_t i = 0; i < count; ++i) {
    const EventPlan& plan = rows[i].schema->plan;
    uint64_t own = 0;
    if (plan.scope >= 0 && load_entry(rows[i], plan.scope, own) && own != 0) id = own;
    if (plan.pid >= 0) has_pid = load_entry(rows[i], plan.pid, pid);
    if (plan.tid >= 0) has_tid = load_entry(rows[i], plan.tid, tid);
  }
  const Scope* scope = spec_.domain->find_scope(id);
  if (!scope) {
    bad_scope = true;
    id = spec_.scope;
    scope = spec_.domain->find_scope(id);
  }
  if (has_pid || has_tid) {
    return new_track(session_.shop().tracks.thread(scope->path, pid, has_pid, tid, has_tid));
  }
  return track(id, *scope);
}

void Stream::break_claim() {
  if (!claim_broken_) session_.shop().summary.add(Count::kOrderBreaks);
  claim_broken_ = true;
  passing_ = false;
}

// Checks what the stream was opened with, for one event more.
bool Stream::keeps_claim(EventTrack& into, int64_t begin, int64_t end) {
  if (spec_.ordering == Ordering::kUnknown || spec_.partly || claim_broken_) return true;
  int64_t time = spec_.ordering == Ordering::kRangeEnd ? end : begin;
  int64_t before = spec_.per_scope ? into.claimed() : claimed_;
  if (time < before) {
    break_claim();
    return false;
  }
  spec_.per_scope ? into.set_claimed(time) : static_cast<void>(claimed_ = time);
  return true;
}

// `alone`: no later event can have the same begin and yet belong before this one.
void Stream::add_complete(EventTrack& into, const Event& event, bool alone) {
  newest_ = std::max(newest_, event.begin);
  bool kept_order = keeps_claim(into, event.begin, event.end);
  if (passing_ && kept_order) {
    // What was spilled is written once and for all, at the session's end.
    if (into.has_kept() && event.begin > into.newest_kept() && !into.spilled()) into.flush();
    if (alone && !into.has_kept() && event.begin >= into.frontier()) {
      into.pass(event);
      return;
    }
  }
  into.keep(event);
  relieve();
}

Status Stream::add_event(const EventRoles& roles, const Row* rows, uint32_t count, EventTrack& into,
                         const Times& times, uint64_t batch_scope) {
  Event event;
  event.begin = times.begin;
  event.end = times.end;
  event.rows = rows;
  event.row_count = count;
  event.batch_scope = batch_scope;
  if (event.end < event.begin) return ends_early(event);
  session_.shop().flows.enter(event, roles.closes(), number_);
  if (event.has_flows) {
    stop_passing();
    waits_ = true;
  }
  switch (roles.kind) {
    case EventKind::kMark: event.shape = Shape::kInstant; break;
    case EventKind::kStartEnd: event.shape = Shape::kAsync; break;
    case EventKind::kPush:
    case EventKind::kPop: add_half(into, event, roles.kind == EventKind::kPush); return Status::kOk;
    case EventKind::kStart:
    case EventKind::kEnd: {
      keeps_claim(into, event.begin, event.end);
      stop_passing();
      waits_ = true;
      newest_ = std::max(newest_, event.begin);
      const Row& row = *roles.range_id;
      uint64_t id;
      if (!load_entry(row, row.schema->plan.range_id, id)) {
        return fail(Status::kInvalid, "the row is too short for its range id");
      }
      session_.keep_range_half({roles.kind == EventKind::kStart, id, event.begin, &into, rows,
                                count, event.has_flows, event.first_flow, batch_scope, number_});
      return Status::kOk;
    }
    default: break;
  }
  add_complete(into, event, false);
  return Status::kOk;
}

// The short way of write_event, for the shape at hand.
Status Stream::write_shaped(const Row* rows, uint32_t count) {
  Event event;
  int64_t ticks;
  std::memcpy(&ticks, rows[shape_.begin_row].data + shape_.begin_at, sizeof(ticks));
  if (!place_own(ticks, event.begin)) return unwritable(ticks);
  event.end = event.begin;
  if (shape_.is_range) {
    std::memcpy(&ticks, rows[shape_.end_row].data + shape_.end_at, sizeof(ticks));
    if (!place_own(ticks, event.end)) return unwritable(ticks);
    if (event.end < event.begin) return ends_early(event);
  }
  EventTrack& into = default_track_ ? *default_track_ : track_for(rows, count, 0);
  event.rows = rows;
  event.row_count = count;
  switch (shape_.kind) {
    case EventKind::kPush:
    case EventKind::kPop: add_half(into, event, shape_.kind == EventKind::kPush); break;
    case EventKind::kMark: event.shape = Shape::kInstant; [[fallthrough]];
    default:
      if (shape_.kind == EventKind::kStartEnd) event.shape = Shape::kAsync;
      add_complete(into, event, false);
  }
  return Status::kOk;
}

Status Stream::ends_early(const Event& event) {
  return fail(Status::kInvalid, "the range ends at " + std::to_string(event.end) +
                                    ", before it begins at " + std::to_string(event.begin));
}

void Stream::add_half(EventTrack& into, const Event& event, bool push) {
  keeps_claim(into, event.begin, event.end);
  stop_passing();
  newest_ = std::max(newest_, event.begin);
  into.keep_half(push, event.begin, event.rows, event.row_count, event.has_flows, event.first_flow,
                 event.batch_scope);
  relieve();
}

Status Stream::write_event(const Row* rows, uint32_t count) {
  if (count == 0 || count > kMaxEventRows) {
    return fail(Status::kInvalid, "an event takes 1 to 255 payloads, not " + std::to_string(count));
  }
  if (!shape_.fits(rows, count)) shape_ = EventShape::of(rows, count);
  if (shape_.usable && direct_ && !settled_) return write_shaped(rows, count);
  return write_row(rows, count, 0);
}

Status Stream::write_row(const Row* rows, uint32_t count, uint64_t batch_scope) {
  EventRoles roles(rows, count);
  Times times;
  Status status = place_times(roles, times);
  if (status != Status::kOk) return status;
  if (times.deferred) {
    waits_ = true;
    stop_passing();
    session_.defer_event(*this, rows, count, batch_scope);
    return Status::kOk;
  }
  return add_event(roles, rows, count, track_for(rows, count, batch_scope), times, batch_scope);
}

// The track of an event's scope, which rarely is any but the stream's own.
EventTrack& Stream::track_for(const Row* rows, uint32_t count, uint64_t batch_scope) {
  bool own = batch_scope != 0;
  for (uint32_t i = 0; i < count; ++i) own = own || rows[i].schema->plan.has_scope();
  if (!own && default_track_) return *default_track_;
  bool bad_scope = false;
  EventTrack& found = track_of(rows, count, batch_scope, bad_scope);
  if (bad_scope) session_.shop().summary.add(Count::kBadIds);
  if (!own) default_track_ = &found;
  return found;
}

void Stream::replay_event(const Row* rows, uint32_t count, uint64_t batch_scope) {
  settled_ = true;
  if (target_ == kNoClock) target_ = session_.clocks().trace_clock();
  EventRoles roles(rows, count);
  Times times;
  // What cannot be placed was counted where it was found out.
  if (place_times(roles, times) != Status::kOk) return;
  EventTrack& into = track_for(rows, count, batch_scope);
  if (add_event(roles, rows, count, into, times, batch_scope) != Status::kOk) {
    session_.shop().summary.add(Count::kEndsBeforeBegin);
  }
}

Status Stream::tie_clocks(uint64_t first, uint64_t second, const nvtxSyncPoint_t* points,
                          size_t count) {
  TimeSource a;
  TimeSource b;
  bool own;
  Status status = find_source(first, a, own);
  if (status == Status::kOk) status = find_source(second, b, own);
  if (status != Status::kOk) return status;
  for (size_t i = 0; i < count; ++i) {
    int64_t time_a;
    int64_t time_b;
    if (a.convert(points[i].src, time_a) && b.convert(points[i].dst, time_b)) {
      session_.clocks().add_point(a.key, b.key, time_a, time_b);
      session_.definitions().add(DefinitionKind::kPoint, 0, 0,
                                 ClockTie{a.key, b.key, time_a, time_b, 0}, {});
    } else {
      session_.shop().summary.add(Count::kBadSyncPoints);
    }
  }
  return Status::kOk;
}

// The factor is given in ticks; clocks here count nanoseconds.
Status Stream::tie_clocks(uint64_t from, uint64_t to, double slope, const nvtxSyncPoint_t& anchor) {
  TimeSource a;
  TimeSource b;
  bool own;
  Status status = find_source(from, a, own);
  if (status == Status::kOk) status = find_source(to, b, own);
  if (status != Status::kOk) return status;
  if (!(slope > 0) || !std::isfinite(slope)) {
    return fail(Status::kInvalid, "a conversion's slope must be above 0 and finite");
  }
  int64_t time_a;
  int64_t time_b;
  if (!a.convert(anchor.src, time_a) || !b.convert(anchor.dst, time_b)) {
    return fail(Status::kInvalid, "the conversion's anchor is beyond 64-bit nanoseconds");
  }
  double scale_a = static_cast<double>(a.numerator) / static_cast<double>(a.denominator);
  double scale_b = static_cast<double>(b.numerator) / static_cast<double>(b.denominator);
  double nanoseconds = slope * scale_b / scale_a;
  session_.clocks().add_factor(a.key, b.key, nanoseconds, time_a, time_b);
  session_.definitions().add(DefinitionKind::kFactor, 0, 0,
                             ClockTie{a.key, b.key, time_a, time_b, nanoseconds}, {});
  return Status::kOk;
}

void Stream::relieve() {
  MemoryBudget& budget = session_.shop().budget;
  if (budget.exceeded()) {
    note_memory();
    session_.relieve(*this);
  }
}

void Stream::note_memory() {
  size_t total = 0;
  for (const EventTrack* track : tracks_) total += track->memory();
  for (const auto& [counter, tracks] : counters_) total += tracks->memory();
  memory_.store(total, std::memory_order_relaxed);
}

void Stream::spill() {
  for (EventTrack* track : tracks_) track->spill();
  for (auto& [counter, tracks] : counters_) tracks->spill();
  note_memory();
}

bool Stream::in_spill_file() {
  if (!session_.shop().spill.named()) return false;
  return std::any_of(tracks_.begin(), tracks_.end(),
                     [](const EventTrack* track) { return track->spilled(); }) ||
         std::any_of(counters_.begin(), counters_.end(),
                     [](const auto& each) { return each.second->spilled(); });
}

void Stream::close() {
  // Rows in the spill file are written once and for all, at the session's end: a killed
  // session's are then in that file or in the output, never in both.
  if (in_spill_file()) {
    spill();
  } else if (!waits_) {
    finish();
  }
  note_memory();
  out_.release();
  // What a killed process leaves behind must name its tracks.
  session_.shop().tracks.flush();
}

void Stream::finish() {
  if (finished_) return;
  finished_ = true;
  uint64_t lost = 0;
  for (EventTrack* track : tracks_) {
    track->finish();
    lost += track->lost();
  }
  for (auto& [counter, tracks] : counters_) {
    tracks->flush();
    lost += tracks->lost();
  }
  emitter_.count();
  if (lost) session_.shop().summary.add(Count::kDroppedByError, lost);
  out_.release();
  default_track_ = nullptr;
  tracks_.clear();
  by_scope_.clear();
  by_parent_.clear();
  hot_counter_ = {0, 0, nullptr};
  counters_.clear();
  memory_.store(0, std::memory_order_relaxed);
}

}  // namespace nvtx_perfetto
