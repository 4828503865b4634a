// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "io/run_sorter.h"
#include "model/event.h"
#include "model/summary.h"

namespace nvtx_perfetto {

// Where an event comes in the file among events of its begin; the engine draws an arrow
// only from what it has seen.
struct FlowPlace {
  int64_t time = 0;
  uint32_t stream = 0;
  int64_t end = 0;
};

// The ends of all flows of a session. Ends are added as events come, matched once when
// the session ends, and asked for again when the events are written. Adding is safe from
// several threads; ends live in bounded memory and a temporary file.
class FlowTable {
 public:
  FlowTable(MemoryBudget& budget, SpillFile& file, Summary& summary)
      : budget_(budget), file_(file), summary_(summary), ids_(budget, file), values_(budget, file) {
  }

  // Adds every flow and correlation entry of the rows, in their order; the number of the
  // first end.
  uint64_t add(const Row* rows, uint32_t count, const FlowPlace& place);

  // Adds those of an event from `stream`, and tells it so. An arrow ends at the begin of a slice,
  // which an event that closes one has not.
  void enter(Event& event, bool closes, uint32_t stream);

  // Gives every edge an id of its own, or finds that it cannot be drawn.
  bool resolve();

  // Calls `draw` with the id of each edge of the rows and tells whether all flow fields
  // that name an edge had one.
  template <typename Draw>
  bool each_edge(const Row* rows, uint32_t count, uint64_t first, const Draw& draw) const {
    bool all = true;
    uint64_t slots = slot_count(rows, count);
    for (uint64_t i = 0; i < slots; ++i) {
      uint64_t edge = edge_at(first + i);
      if (edge == kUndrawn) all = false;
      if (edge != 0 && edge != kUndrawn) draw(edge);
    }
    return all;
  }
  bool any() const { return next_slot_.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr uint64_t kUndrawn = UINT64_MAX;
  struct End;
  void add_ids(const Row& row, const RowLayout& layout, int entry, bool out,
               const FlowPlace& place);
  void add_value(const Row& row, const RowLayout& layout, int entry, const FlowPlace& place);
  void match_ids(RunSorter& results);
  void match_values(RunSorter& results);
  void settle(RunSorter& results, uint64_t slot, uint64_t edge);
  uint32_t domain_number(const uint64_t domain[2]);
  uint64_t slot_count(const Row* rows, uint32_t count) const;
  uint64_t edge_at(uint64_t slot) const;

  MemoryBudget& budget_;
  SpillFile& file_;
  Summary& summary_;
  std::mutex mutex_;
  RunSorter ids_;     // by id, then time
  RunSorter values_;  // correlation values, by value, then time
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> domains_;
  std::atomic<uint64_t> next_slot_{0};
  uint64_t next_edge_ = 1;
  int64_t edges_offset_ = -1;  // of the resolved edges in the spill file, 8 bytes a slot
  mutable uint64_t block_first_ = UINT64_MAX;
  mutable ByteBuffer block_;
};

}  // namespace nvtx_perfetto
