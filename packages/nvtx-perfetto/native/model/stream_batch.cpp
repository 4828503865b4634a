// SPDX-License-Identifier: Apache-2.0
// Batches of events: the checks of a whole batch, and the short way for plain layouts.
#include <algorithm>
#include <cstring>

#include "model/event_roles.h"
#include "model/event_shape.h"
#include "model/session.h"
#include "model/stream.h"

namespace nvtx_perfetto {
namespace {

int64_t load_ticks(const uint8_t* row, int64_t offset) {
  int64_t ticks;
  std::memcpy(&ticks, row + offset, sizeof(ticks));
  return ticks;
}

}  // namespace

// Complete events at known places, with neither flows nor scopes of their own.
bool Stream::simple_batch(const Schema& schema) const {
  const EventPlan& plan = schema.plan;
  bool range = plan.kind == EventKind::kPushPop || plan.kind == EventKind::kStartEnd;
  bool complete = range ? is_plain_time(schema, plan.end) : plan.kind == EventKind::kMark;
  return complete && is_plain_time(schema, plan.begin) && direct_ && !plan.has_flows() &&
         plan.scope < 0 && plan.pid < 0 && plan.tid < 0;
}

// The batch's own word, which an UNKNOWN stream does not give.
void Stream::check_batch_claim(const Schema& schema, const uint8_t* events, size_t count) {
  if (!is_plain_time(schema, schema.plan.begin)) return;
  int64_t offset = schema.entries[static_cast<size_t>(schema.plan.begin)].offset;
  int64_t before = INT64_MIN;
  for (size_t i = 0; i < count; ++i) {
    int64_t ticks = load_ticks(events + i * schema.size, offset);
    if (ticks < before) {
      // A stream's broken claim counts once; one of a batch counts by the batch.
      if (spec_.ordering == Ordering::kUnknown) {
        session_.shop().summary.add(Count::kOrderBreaks);
      } else {
        break_claim();
      }
      return;
    }
    before = ticks;
  }
}

void Stream::add_simple_batch(const Schema& schema, const uint8_t* events, size_t count,
                              EventTrack& into, uint64_t scope) {
  const EventPlan& plan = schema.plan;
  Summary& summary = session_.shop().summary;
  const ClockPlan& clocks = session_.clocks();
  int64_t begin_at = schema.entries[static_cast<size_t>(plan.begin)].offset;
  int64_t end_at = plan.end >= 0 && plan.kind != EventKind::kMark
                       ? schema.entries[static_cast<size_t>(plan.end)].offset
                       : begin_at;
  Row row{&schema, events, schema.size};
  Event event;
  event.rows = &row;
  event.row_count = 1;
  event.batch_scope = scope;
  event.shape = plan.kind == EventKind::kMark      ? Shape::kInstant
                : plan.kind == EventKind::kPushPop ? Shape::kNested
                                                   : Shape::kAsync;
  for (size_t i = 0; i < count; ++i, row.data += schema.size) {
    int64_t ticks = load_ticks(row.data, begin_at);
    if (!clocks.place_direct(source_, ticks, event.begin) ||
        !clocks.place_direct(source_, load_ticks(row.data, end_at), event.end)) {
      continue;  // counted
    }
    if (event.end < event.begin) {
      summary.add(Count::kEndsBeforeBegin);
      continue;
    }
    bool alone = i + 1 < count && load_ticks(row.data + schema.size, begin_at) > ticks;
    add_complete(into, event, alone);
  }
}

Status Stream::write_event_batch(const Schema& schema, const uint8_t* events, size_t size,
                                 uint64_t scope, BatchOrder order) {
  if (!schema.fixed || schema.size == 0) {
    return fail(Status::kNotSupported, "batches of dynamic schemas are not read yet");
  }
  if (!events || size % schema.size != 0) {
    return fail(Status::kInvalid, "a batch of " + std::to_string(size) +
                                      " bytes does not hold whole rows of " +
                                      std::to_string(schema.size));
  }
  Row first{&schema, events, schema.size};
  if (!EventRoles(&first, 1).complete()) {
    return fail(Status::kInvalid, "the batch's schema does not make a mark or a range");
  }
  const Scope* batch_scope = spec_.domain->find_scope(scope);
  if (!batch_scope) {
    return fail(Status::kInvalid,
                "no scope " + std::to_string(scope) + " in domain " + spec_.domain->shown_name());
  }
  size_t count = size / schema.size;
  if (order == BatchOrder::kSorted) check_batch_claim(schema, events, count);
  if (simple_batch(schema)) {
    uint64_t id = scope ? scope : spec_.scope;
    add_simple_batch(schema, events, count, track(id, *spec_.domain->find_scope(id)), scope);
    return Status::kOk;
  }
  Summary& summary = session_.shop().summary;
  for (size_t i = 0; i < count; ++i) {
    Row row{&schema, events + i * schema.size, schema.size};
    EventRoles roles(&row, 1);
    Times times;
    if (place_times(roles, times) != Status::kOk) continue;  // counted
    if (times.deferred) {
      waits_ = true;
      stop_passing();
      session_.defer_event(*this, &row, 1, scope);
      continue;
    }
    if (add_event(roles, &row, 1, track_for(&row, 1, scope), times, scope) != Status::kOk) {
      summary.add(Count::kEndsBeforeBegin);
    }
  }
  return Status::kOk;
}

}  // namespace nvtx_perfetto
