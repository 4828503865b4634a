// SPDX-License-Identifier: Apache-2.0
// What a spill file is made of. The file of a process that died is read by another one, so
// every part says what it is and whether it is whole:
//
//   | head | block | block | ...
//   block:  | block head | size bytes, padded to 8 |
//
// A block's head is written before its bytes and again, marked as whole, behind them.
#pragma once

#include <cstdint>

namespace nvtx_perfetto {

constexpr char kSpillSuffix[] = ".spill";
constexpr char kSpillMagic[8] = {'N', 'V', 'T', 'X', 's', 'p', 'i', '1'};

struct SpillHead {
  char magic[8];
  char boot_id[40];
  char host[72];
  uint64_t pid;
};
static_assert(sizeof(SpillHead) == 128);

enum class SpillKind : uint32_t {
  kScratch,      // for nobody else
  kDefinitions,  // what was registered and opened: see model/definition_log.h
  kEvents,       // runs of records, of one stream
  kHalves,
  kSamples,      // ... and of one counter
  kRangeHalves,  // runs of the whole session
  kDeferred,
  kEnding,  // the session began to end; nothing else for others follows
};

// Whose block it is.
struct SpillLabel {
  SpillKind kind = SpillKind::kScratch;
  uint32_t stream = 0;
  uint64_t subject = 0;  // a counter's id; the output's size when the session began to end
};

struct SpillBlock {
  static constexpr uint32_t kMagic = 0x6B6C4273;

  uint32_t magic;
  uint32_t kind;
  uint32_t stream;
  uint32_t whole;  // 1 once it is
  uint64_t subject;
  uint64_t size;
  uint64_t records;
};
static_assert(sizeof(SpillBlock) == 40);

}  // namespace nvtx_perfetto
