// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "payload/value.h"

namespace nvtx_perfetto {

struct EnumType {
  struct Label {
    std::string name;
    uint64_t value;
    bool flag;
  };
  uint64_t id = 0;
  uint8_t size = 0;  // bytes
  std::vector<Label> labels;

  // The label, or labels of single flags joined by `|`; empty when none fits.
  std::string label(uint64_t value) const;
};

enum class DeltaKind : uint8_t { kAbsolute, kDelta, kDeltaSinceStart };

// nvtxSemanticsCounter_t, taken over.
struct CounterSemantics {
  bool given = false;
  bool normalize = false;
  DeltaKind delta = DeltaKind::kAbsolute;
  std::string unit;
  uint64_t numerator = 1;
  uint64_t denominator = 1;
  std::string limits;         // "min 0, max 100", or empty
  std::string interpolation;  // "point", "since last", ... or empty
};

// nvtxSemanticsCorrelation_t, taken over.
struct CorrelationSemantics {
  bool given = false;
  uint64_t domain[2] = {0, 0};
};

enum class EntryRole : uint8_t { kNone, kBegin, kEnd, kMark, kTimestamp, kCounter };

// kFill takes all that the row holds: payloads of a predefined type.
enum class ArrayKind : uint8_t {
  kNone,
  kFixed,
  kZeroTerminated,
  kLengthEntry,
  kLengthPayload,
  kFill
};

struct Schema;

struct SchemaEntry {
  std::string name;       // distinct within its schema, also after the engine's rewriting
  std::string size_name;  // `name.size`, for arrays that are cut
  std::string description;
  uint64_t type = 0;
  TypeInfo value;
  const Schema* nested = nullptr;
  const EnumType* labels = nullptr;
  ArrayKind array = ArrayKind::kNone;
  uint64_t count = 1;   // elements of a fixed array, code units of a fixed text
  uint32_t detail = 0;  // index of the length or selector entry
  int64_t offset = -1;  // bytes; -1 when it depends on the data
  size_t last = 0;      // where a fixed entry ends
  uint32_t align = 1;
  EntryRole role = EntryRole::kNone;
  bool message = false;
  bool shown = true;  // an argument, not an attribute or hidden
  bool named = false;
  uint64_t time_domain = 0;
  CounterSemantics counter;
  CorrelationSemantics correlation;

  // Bytes of one element, a text counting as one.
  size_t element_size() const;
};

enum class EventKind : uint8_t {
  kNone,
  kMark,
  kPushPop,
  kStartEnd,
  kPush,
  kPop,
  kStart,
  kEnd,
  kCounterGroup
};

// Which entries carry the attributes of an event; -1: none does.
struct EventPlan {
  EventKind kind = EventKind::kNone;
  int begin = -1;  // also the time of marks and halves
  int end = -1;
  int message = -1;
  int color = -1;
  int category = -1;
  int range_id = -1;
  int scope = -1;
  int pid = -1;
  int tid = -1;
  std::vector<int> flows_out;
  std::vector<int> flows_in;
  std::vector<int> correlations;
  int shown = 0;  // how many entries are arguments
  bool has_scope() const { return scope >= 0 || pid >= 0 || tid >= 0; }
  bool has_flows() const {
    return !flows_out.empty() || !flows_in.empty() || !correlations.empty();
  }
};

// The layout of one payload. Immutable once registered; lives as long as its session.
struct Schema {
  uint64_t id = 0;
  uint32_t number = 0;  // what packed rows call it; its domain's own
  std::string name;
  std::vector<SchemaEntry> entries;
  size_t size = 0;  // bytes of a fixed layout; 0 otherwise
  uint32_t align = 1;
  bool fixed = true;   // every offset is known
  uint32_t depth = 1;  // levels of groups and arrays of its arguments
  bool is_union = false;
  EventPlan plan;
  std::vector<std::string> keys;  // how the keys of its arguments end, as the engine has them

  // nvtx wraps scalars in schemas of one nameless entry; they are shown as the scalar.
  bool is_wrapper() const { return entries.size() == 1 && !entries[0].named && !is_union; }
};

constexpr uint64_t kMaxRowSize = uint64_t{1} << 30;  // bytes

// One payload of one event.
struct Row {
  const Schema* schema = nullptr;
  const uint8_t* data = nullptr;
  size_t size = 0;
};

// Where each entry of a row lies. Fixed layouts answer from the schema; others are
// walked once. Entries that the row is too short for are absent.
class RowLayout {
 public:
  explicit RowLayout(const Row& row) : row_(row) {
    if (!row.schema->fixed) walk();
  }
  // Null when the entry is not wholly inside the row.
  const uint8_t* at(int entry) const {
    if (entry < 0) return nullptr;
    const SchemaEntry& found = row_.schema->entries[static_cast<size_t>(entry)];
    if (!row_.schema->fixed) return walked(entry);
    return static_cast<size_t>(found.last) <= row_.size ? row_.data + found.offset : nullptr;
  }
  // Elements of an array or code units of a text, as far as the row holds them.
  size_t count(int entry) const;

 private:
  struct Place {
    size_t offset;
    size_t count;
    bool present;
  };
  const uint8_t* walked(int entry) const;
  void walk();

  const Row& row_;
  std::vector<Place> places_;  // for layouts that depend on the data
};

// The bits of a row's integer entry; false where the row is too short for it.
bool load_entry(const Row& row, int entry, uint64_t& out);

}  // namespace nvtx_perfetto
