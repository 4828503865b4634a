// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io/run_sorter.h"
#include "model/event.h"
#include "model/event_names.h"

namespace nvtx_perfetto {

// An event as a record of a RunSorter: begin and ~end are its keys, so that longer ranges come
// first, and
//
//   tag:   | shape: 4 | flows: 1 | scope: 1 | 0: 2 | rows: 8 | pop rows: 8 |   (bits, lowest first)
//   bytes: | batch's scope: u64, if any | first flow: u64, if any | schema number: u32 | size: u32
//   | row, padded | ...
//
// Rows are copied; schemas are those of the domain that the event belongs to.
constexpr uint32_t kMaxRows = 255;

void pack_event(RunSorter& sorter, const Event& event);

constexpr uint32_t kEventFlowsBit = 1 << 4;
constexpr uint32_t kEventScopeBit = 1 << 5;
constexpr uint32_t kEventShapeBits = 0xF;

// The event of a record. `rows` holds what it points to.
Event unpack_event(const Record& record, const EventNames& names, std::vector<Row>& rows);

// The same for rows alone; `tag` bits are the caller's above 0xFFFFF0.
// A row's head; its bytes follow, padded to 8.
struct PackedRow {
  uint32_t schema;
  uint32_t size;
};
size_t packed_rows_size(const Row* rows, uint32_t count);
uint8_t* pack_rows(uint8_t* at, const Row* rows, uint32_t count);
const uint8_t* unpack_rows(const uint8_t* at, uint32_t count, const EventNames& names,
                           std::vector<Row>& rows);

}  // namespace nvtx_perfetto
