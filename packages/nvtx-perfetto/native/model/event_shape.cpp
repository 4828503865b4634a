// SPDX-License-Identifier: Apache-2.0
#include "model/event_shape.h"

#include <algorithm>

#include "model/event_roles.h"

namespace nvtx_perfetto {

bool is_plain_time(const Schema& schema, int entry) {
  if (entry < 0 || !schema.fixed) return false;
  const SchemaEntry& field = schema.entries[static_cast<size_t>(entry)];
  return field.time_domain == 0 && field.value.size == 8 && is_integer(field.value.kind) &&
         field.array == ArrayKind::kNone;
}

EventShape EventShape::of(const Row* rows, uint32_t count) {
  EventShape shape;
  shape.count = count;
  shape.first = rows[0].schema;
  if (count > 1) shape.second = rows[1].schema;
  EventRoles roles(rows, count);
  bool own_way = std::any_of(rows, rows + count, [](const Row& row) {
    return row.schema->plan.has_flows() || row.schema->plan.has_scope();
  });
  if (count > 2 || own_way || !roles.complete() || roles.by_id()) return shape;
  if (!is_plain_time(*roles.begin->schema, roles.begin_entry())) return shape;
  shape.kind = roles.kind;
  shape.begin_row = shape.end_row = static_cast<uint32_t>(roles.begin - rows);
  const auto& entries = roles.begin->schema->entries;
  shape.begin_at = shape.end_at = entries[static_cast<size_t>(roles.begin_entry())].offset;
  shape.is_range = roles.is_range();
  if (shape.is_range) {
    int end = roles.end->schema->plan.end;
    if (!is_plain_time(*roles.end->schema, end)) return shape;
    shape.end_row = static_cast<uint32_t>(roles.end - rows);
    shape.end_at = roles.end->schema->entries[static_cast<size_t>(end)].offset;
  }
  shape.usable = true;
  return shape;
}

}  // namespace nvtx_perfetto
