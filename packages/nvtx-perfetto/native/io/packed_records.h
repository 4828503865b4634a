// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "io/byte_buffer.h"
#include "io/record.h"

namespace nvtx_perfetto {

// Sorted records resemble their neighbours, so a run in memory holds what changed: each 8-byte
// word of a record, xor the word that last stood in its place, without its leading zero
// bytes. Two words share a control byte that says how many bytes of each are there:
//
//   | bytes of word 0: 4 bits, of word 1: 4 bits | word 0 | word 1 | control of 2 and 3 | ...
//
// Memory that was never touched is what costs most here, not the packing.
class RecordPacker {
 public:
  // The next record starts a run of its own.
  void restart() { last_.assign(last_.size(), 0); }
  void pack(const Record& record, ByteBuffer& out);

 private:
  std::vector<uint64_t> last_;
};

// Reads what a RecordPacker wrote since its last restart, record by record.
class RecordUnpacker {
 public:
  // The record at `at`, good until the next call, and where the next one starts.
  const uint8_t* unpack(const uint8_t* at, Record& record);

 private:
  std::vector<uint64_t> last_;
};

// What a reader may look at behind the end of a run, without using it.
constexpr size_t kPackedSlack = sizeof(uint64_t);

}  // namespace nvtx_perfetto
