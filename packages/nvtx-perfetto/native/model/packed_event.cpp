// SPDX-License-Identifier: Apache-2.0
#include "model/packed_event.h"

#include <cstring>

namespace nvtx_perfetto {
namespace {

struct PackedRow {
  const Schema* schema;
  uint64_t size;
};

constexpr uint32_t kFlowsBit = 1 << 4;

}  // namespace

size_t packed_rows_size(const Row* rows, uint32_t count) {
  size_t size = 0;
  for (uint32_t i = 0; i < count; ++i) size += sizeof(PackedRow) + padded_size(rows[i].size);
  return size;
}

uint8_t* pack_rows(uint8_t* at, const Row* rows, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    PackedRow head{rows[i].schema, rows[i].size};
    std::memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    if (rows[i].size) std::memcpy(at, rows[i].data, rows[i].size);
    at += padded_size(rows[i].size);
  }
  return at;
}

const uint8_t* unpack_rows(const uint8_t* at, uint32_t count, std::vector<Row>& rows) {
  for (uint32_t i = 0; i < count; ++i) {
    PackedRow head;
    std::memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    rows.push_back({head.schema, at, static_cast<size_t>(head.size)});
    at += padded_size(static_cast<size_t>(head.size));
  }
  return at;
}

void pack_event(RunSorter& sorter, const Event& event) {
  size_t size = packed_rows_size(event.rows, event.row_count) +
                packed_rows_size(event.pop_rows, event.pop_row_count) +
                (event.has_flows ? sizeof(uint64_t) : 0);
  uint32_t tag = static_cast<uint32_t>(event.shape) | (event.has_flows ? kFlowsBit : 0) |
                 event.row_count << 8 | event.pop_row_count << 16;
  uint8_t* at = sorter.add(event.begin, ~event.end, tag, size);
  if (event.has_flows) {
    std::memcpy(at, &event.first_flow, sizeof(event.first_flow));
    at += sizeof(event.first_flow);
  }
  at = pack_rows(at, event.rows, event.row_count);
  pack_rows(at, event.pop_rows, event.pop_row_count);
}

Event unpack_event(const Record& record, std::vector<Row>& rows) {
  Event event;
  uint32_t tag = record.head.tag;
  event.begin = record.head.first;
  event.end = ~record.head.second;
  event.shape = static_cast<Shape>(tag & 0xF);
  event.has_flows = (tag & kFlowsBit) != 0;
  event.row_count = tag >> 8 & 0xFF;
  event.pop_row_count = tag >> 16 & 0xFF;
  const uint8_t* at = record.bytes;
  if (event.has_flows) {
    std::memcpy(&event.first_flow, at, sizeof(event.first_flow));
    at += sizeof(event.first_flow);
  }
  rows.clear();
  unpack_rows(at, event.row_count + event.pop_row_count, rows);
  event.rows = rows.data();
  event.pop_rows = rows.data() + event.row_count;
  return event;
}

}  // namespace nvtx_perfetto
