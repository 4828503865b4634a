// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io/run_sorter.h"
#include "model/event.h"

namespace nvtx_perfetto {

// An event as a record of a RunSorter: begin and ~end are its keys, so that longer ranges come
// first, and
//
//   tag:   | shape: 4 | flows: 4 | rows: 8 | pop rows: 8 |   (bits, from the lowest)
//   bytes: | first flow: u64, if any | schema pointer: u64 | size: u64 | row, padded | ...
//
// Rows are copied; schemas outlive the sorter.
constexpr uint32_t kMaxRows = 255;

void pack_event(RunSorter& sorter, const Event& event);

// The event of a record. `rows` holds what it points to.
Event unpack_event(const Record& record, std::vector<Row>& rows);

// The same for rows alone; `tag` bits are the caller's above 0xFFFFF0.
size_t packed_rows_size(const Row* rows, uint32_t count);
uint8_t* pack_rows(uint8_t* at, const Row* rows, uint32_t count);
const uint8_t* unpack_rows(const uint8_t* at, uint32_t count, std::vector<Row>& rows);

}  // namespace nvtx_perfetto
