// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "payload/schema.h"

namespace nvtx_perfetto {

// What the payloads of an event make together, and which of them gives each time: the
// last one that has it.
struct EventRoles {
  EventKind kind = EventKind::kNone;
  const Row* begin = nullptr;
  const Row* end = nullptr;
  const Row* range_id = nullptr;

  EventRoles(const Row* rows, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const EventPlan& plan = rows[i].schema->plan;
      if (plan.kind != EventKind::kNone && kind == EventKind::kNone) kind = plan.kind;
      if (plan.begin >= 0) begin = &rows[i];
      if (plan.end >= 0) end = &rows[i];
      if (plan.range_id >= 0) range_id = &rows[i];
    }
    // Without a kind, the times tell.
    if (kind == EventKind::kNone && begin) kind = end ? EventKind::kPushPop : EventKind::kMark;
    if (!begin && end && closes()) begin = end;
  }

  bool is_range() const { return kind == EventKind::kPushPop || kind == EventKind::kStartEnd; }
  bool closes() const { return kind == EventKind::kPop || kind == EventKind::kEnd; }
  bool by_id() const { return kind == EventKind::kStart || kind == EventKind::kEnd; }

  // The entry of `begin` that is the time; an end's time is its only one.
  int begin_entry() const {
    const EventPlan& plan = begin->schema->plan;
    return closes() && plan.end >= 0 ? plan.end : plan.begin;
  }
  bool complete() const {
    bool known = kind != EventKind::kNone && kind != EventKind::kCounterGroup;
    return known && begin && (!is_range() || end) && (!by_id() || range_id);
  }
};

}  // namespace nvtx_perfetto
