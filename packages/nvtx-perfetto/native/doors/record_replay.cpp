// SPDX-License-Identifier: Apache-2.0
#include "doors/record_replay.h"

#include <cstring>

#include "model/packed_event.h"
#include "model/waiting_records.h"

namespace nvtx_perfetto {
namespace {

// Takes a value off the front.
template <typename T>
bool take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(value)) return false;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
  return true;
}

std::string_view bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(record.bytes), record.head.size};
}

// As much as the door asks of a payload.
bool fits(const Schema* schema, size_t size) {
  return schema && size <= kMaxRowSize && (schema->fixed ? size == schema->size : size > 0);
}

}  // namespace

bool RecordReplay::add(const SpillBlock& block, std::string_view run) {
  RecordWalk walk(run);
  Record record;
  bool good = true;
  uint64_t records = 0;
  for (; walk.next(record); ++records) {
    bool added = add_record(block, record);
    written_ += added;
    good = good && added;
  }
  return good && records == block.records;
}

bool RecordReplay::add_record(const SpillBlock& block, const Record& record) {
  switch (static_cast<SpillKind>(block.kind)) {
    case SpillKind::kEvents: return add_event(block, record);
    case SpillKind::kHalves: return add_half(block, record);
    case SpillKind::kSamples: return add_sample(block, record);
    case SpillKind::kRangeHalves: return add_range_half(record);
    case SpillKind::kDeferred: return add_deferred(record);
    default: return false;
  }
}

bool RecordReplay::write_rows(uint64_t stream, std::string_view bytes, uint32_t count,
                              uint64_t batch_scope) {
  Stream* into = definitions_.stream(stream);
  if (!into || count == 0 || count > kMaxRows) return false;
  rows_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    PackedRow head;
    if (!take(bytes, head) || padded_size(head.size) > bytes.size()) return false;
    const Schema* schema = into->domain().numbered_schema(head.schema);
    if (!fits(schema, head.size)) return false;
    rows_.push_back({schema, reinterpret_cast<const uint8_t*>(bytes.data()), head.size});
    bytes.remove_prefix(padded_size(head.size));
  }
  return bytes.empty() && into->write_row(rows_.data(), count, batch_scope) == Status::kOk;
}

bool RecordReplay::add_event(const SpillBlock& block, const Record& record) {
  uint32_t tag = record.head.tag;
  std::string_view bytes = bytes_of(record);
  uint64_t scope = 0;
  uint64_t first_flow;  // flows are matched anew
  if ((tag & kEventScopeBit) && !take(bytes, scope)) return false;
  if ((tag & kEventFlowsBit) && !take(bytes, first_flow)) return false;
  bool whole = (tag >> 16 & 0xFF) == 0;  // pairs are made from halves, never spilled for others
  return whole && write_rows(block.stream, bytes, tag >> 8 & 0xFF, scope);
}

bool RecordReplay::add_half(const SpillBlock& block, const Record& record) {
  std::string_view bytes = bytes_of(record);
  HalfHead head;
  return take(bytes, head) &&
         write_rows(block.stream, bytes, record.head.tag >> HalfHead::kRowsShift, head.batch_scope);
}

bool RecordReplay::add_range_half(const Record& record) {
  std::string_view bytes = bytes_of(record);
  RangeHalfHead head;
  return take(bytes, head) &&
         write_rows(head.stream, bytes, record.head.tag >> RangeHalfHead::kRowsShift,
                    head.batch_scope);
}

bool RecordReplay::add_sample(const SpillBlock& block, const Record& record) {
  Stream* into = definitions_.stream(block.stream);
  const Counter* counter = into ? into->domain().find_counter(block.subject) : nullptr;
  uint32_t no_value = record.head.tag;
  if (!counter || no_value > 1 + static_cast<uint32_t>(NoValue::kUnavailable)) return false;
  if (record.head.size != (no_value ? 0 : counter->sample_size)) return false;
  if (record.head.first < 0 || record.head.first == INT64_MAX) return false;
  into->add_sample(*counter, record.head.first, record.bytes, no_value);
  return true;
}

bool RecordReplay::add_deferred(const Record& record) {
  std::string_view bytes = bytes_of(record);
  DeferredHead head;
  uint32_t tag = record.head.tag;
  if (!take(bytes, head)) return false;
  if ((tag & DeferredHead::kKindBits) == DeferredHead::kEvent) {
    return write_rows(head.stream, bytes, tag >> DeferredHead::kRowsShift, head.subject);
  }
  Stream* into = definitions_.stream(head.stream);
  uint32_t no_value = tag >> DeferredHead::kNoValueShift;
  if (!into || no_value > 1 + static_cast<uint32_t>(NoValue::kUnavailable)) return false;
  Status status =
      no_value ? into->write_no_value(head.ticks, head.subject, static_cast<NoValue>(no_value - 1))
               : into->write_sample(head.ticks, head.subject, bytes.data(), bytes.size());
  return status == Status::kOk;
}

}  // namespace nvtx_perfetto
