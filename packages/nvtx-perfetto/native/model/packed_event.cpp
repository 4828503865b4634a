// SPDX-License-Identifier: Apache-2.0
#include "model/packed_event.h"

#include <cstring>

namespace nvtx_perfetto {
namespace {

uint8_t* put_word(uint8_t* at, uint64_t word) {
  std::memcpy(at, &word, sizeof(word));
  return at + sizeof(word);
}

const uint8_t* take_word(const uint8_t* at, uint64_t& word) {
  std::memcpy(&word, at, sizeof(word));
  return at + sizeof(word);
}

}  // namespace

size_t packed_rows_size(const Row* rows, uint32_t count) {
  size_t size = 0;
  for (uint32_t i = 0; i < count; ++i) size += sizeof(PackedRow) + padded_size(rows[i].size);
  return size;
}

uint8_t* pack_rows(uint8_t* at, const Row* rows, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    PackedRow head{rows[i].schema->number, static_cast<uint32_t>(rows[i].size)};
    std::memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    if (rows[i].size) std::memcpy(at, rows[i].data, rows[i].size);
    at += padded_size(rows[i].size);
  }
  return at;
}

const uint8_t* unpack_rows(const uint8_t* at, uint32_t count, const EventNames& names,
                           std::vector<Row>& rows) {
  for (uint32_t i = 0; i < count; ++i) {
    PackedRow head;
    std::memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    rows.push_back({names.numbered_schema(head.schema), at, head.size});
    at += padded_size(head.size);
  }
  return at;
}

void pack_event(RunSorter& sorter, const Event& event) {
  bool scoped = event.batch_scope != 0;
  size_t size = packed_rows_size(event.rows, event.row_count) +
                packed_rows_size(event.pop_rows, event.pop_row_count) +
                (scoped ? sizeof(uint64_t) : 0) + (event.has_flows ? sizeof(uint64_t) : 0);
  uint32_t tag = static_cast<uint32_t>(event.shape) | (event.has_flows ? kEventFlowsBit : 0) |
                 (scoped ? kEventScopeBit : 0) | event.row_count << 8 | event.pop_row_count << 16;
  uint8_t* at = sorter.add(event.begin, ~event.end, tag, size);
  if (scoped) at = put_word(at, event.batch_scope);
  if (event.has_flows) at = put_word(at, event.first_flow);
  at = pack_rows(at, event.rows, event.row_count);
  pack_rows(at, event.pop_rows, event.pop_row_count);
}

Event unpack_event(const Record& record, const EventNames& names, std::vector<Row>& rows) {
  Event event;
  uint32_t tag = record.head.tag;
  event.begin = record.head.first;
  event.end = ~record.head.second;
  event.shape = static_cast<Shape>(tag & kEventShapeBits);
  event.has_flows = (tag & kEventFlowsBit) != 0;
  event.row_count = tag >> 8 & 0xFF;
  event.pop_row_count = tag >> 16 & 0xFF;
  const uint8_t* at = record.bytes;
  if (tag & kEventScopeBit) at = take_word(at, event.batch_scope);
  if (event.has_flows) at = take_word(at, event.first_flow);
  rows.clear();
  unpack_rows(at, event.row_count + event.pop_row_count, names, rows);
  event.rows = rows.data();
  event.pop_rows = rows.data() + event.row_count;
  return event;
}

}  // namespace nvtx_perfetto
