// SPDX-License-Identifier: Apache-2.0
// One recorded event. Records fill a chunk from its start, sixteen bytes at a time, so
// that the sixteen bytes of a pop always fit where they were reserved.
//
//   | time: u64 | text: u32 | domain: u16 | kind: u8 | flags: u8 | extras ... | padding to 16 |
//
// Extras, in this order, as far as the flags say so:
//   kAttributes   | category: u32 | color: u32 |
//   kValue        | type: u32 | 0: u32 | value: u64 |
//   kId           | slot: u32 | generation: u32 |     (starts of process-wide ranges)
//   kBytes        | size: u32 | count: u32 | size bytes, padded to 8 |
//   kInlineText   | text bytes, padded to 8 |         (or kWideText)
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvtx_perfetto::live {

enum RecordKind : uint8_t {
  kPush = 1,
  kPop,
  kMark,
  kStart,
  kEnd,         // text: the range's slot
  kCounterInt,  // text: the counter's id; a value
  kCounterDouble,
  kCounterBytes,    // bytes: one sample
  kCounterNoValue,  // value: the reason
  kCounterBatch,    // bytes: CounterBatchHead, samples, times
  kEventBatch,      // bytes: EventBatchHead, rows
  kEvent,           // bytes: payloads that make an event with times of its own
  kClockTie,        // bytes: ClockTieHead, nvtxSyncPoint_t each
  kLastKind = kClockTie
};

enum RecordFlag : uint8_t {
  kAttributes = 1,
  kValue = 2,
  kId = 4,
  kBytes = 8,
  kInlineText = 16,  // `text` is a length in bytes
  kWideText = 32,    // `text` is a length in bytes, of wchar_t units
  kRegistered = 64,  // `text` is the index of a registered string
};

struct Record {
  uint64_t time;  // CLOCK_BOOTTIME, ns
  uint32_t text;
  uint16_t domain;
  uint8_t kind;
  uint8_t flags;
};
static_assert(sizeof(Record) == 16);

struct AttributesExtra {
  uint32_t category;
  uint32_t color;
};
struct ValueExtra {
  uint32_t type;
  uint32_t unused;
  uint64_t bits;
};
struct IdExtra {
  uint32_t slot;
  uint32_t generation;
};
struct BytesExtra {
  uint32_t size;
  uint32_t count;
};
// Before each payload inside the bytes of a push, pop, mark, start or end.
struct PayloadHead {
  uint64_t schema;
  uint64_t size;
};
struct CounterBatchHead {
  uint64_t flags;
  uint32_t samples;
  uint32_t has_times;
  uint64_t sample_size;
};
struct EventBatchHead {
  uint64_t schema;
  uint64_t scope;
  uint64_t flags;
  uint64_t row_size;
};
struct ClockTieHead {
  uint64_t from;  // time domains of the record's domain
  uint64_t to;
  double slope;  // 0: the points alone tie
};

constexpr size_t kPopSize = sizeof(Record);

inline size_t padded8(size_t size) { return (size + 7) & ~size_t{7}; }
inline size_t padded16(size_t size) { return (size + 15) & ~size_t{15}; }

// Where a record's extras are; null where it has none.
struct RecordView {
  const Record* head = nullptr;
  const AttributesExtra* attributes = nullptr;
  const ValueExtra* value = nullptr;
  const IdExtra* id = nullptr;
  const BytesExtra* bytes = nullptr;
  const char* text = nullptr;  // head->text bytes
  size_t size = 0;             // of the whole record

  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(bytes + 1); }
};

// False when the bytes from `at` to `end` begin with no whole record.
bool parse_record(const uint8_t* at, const uint8_t* end, RecordView& view);

}  // namespace nvtx_perfetto::live
