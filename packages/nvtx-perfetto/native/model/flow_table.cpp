// SPDX-License-Identifier: Apache-2.0
#include "model/flow_table.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

namespace nvtx_perfetto {
namespace {

constexpr uint64_t kBlockSlots = 4096;

}  // namespace

struct FlowTable::End {
  uint64_t slot;
  int64_t time;
  int64_t end;
  uint32_t stream;
  uint32_t out;

  // As the engine will meet them: by time, then as written.
  auto order() const { return std::make_tuple(time, stream, ~end, slot); }
};

// One slot for each element of a flow field, two (in, out) for a correlation value.
uint64_t FlowTable::slot_count(const Row* rows, uint32_t count) const {
  uint64_t slots = 0;
  for (uint32_t r = 0; r < count; ++r) {
    const EventPlan& plan = rows[r].schema->plan;
    if (!plan.has_flows()) continue;
    for (const auto* list : {&plan.flows_out, &plan.flows_in}) {
      for (int entry : *list) slots += rows[r].schema->entries[static_cast<size_t>(entry)].count;
    }
    slots += 2 * plan.correlations.size();
  }
  return slots;
}

uint64_t FlowTable::add(const Row* rows, uint32_t count, const FlowPlace& place) {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t first = next_slot_.load(std::memory_order_relaxed);
  for (uint32_t r = 0; r < count; ++r) {
    const EventPlan& plan = rows[r].schema->plan;
    if (!plan.has_flows()) continue;
    RowLayout layout(rows[r]);
    for (int entry : plan.flows_out) add_ids(rows[r], layout, entry, true, place);
    for (int entry : plan.flows_in) add_ids(rows[r], layout, entry, false, place);
    for (int entry : plan.correlations) add_value(rows[r], layout, entry, place);
  }
  RunSorter& larger = ids_.memory() >= values_.memory() ? ids_ : values_;
  larger.spill_if_short();
  return first;
}

void FlowTable::add_ids(const Row& row, const RowLayout& layout, int entry, bool out,
                        const FlowPlace& place) {
  const SchemaEntry& field = row.schema->entries[static_cast<size_t>(entry)];
  const uint8_t* at = layout.at(entry);
  uint64_t slot = next_slot_.load(std::memory_order_relaxed);
  for (uint64_t i = 0; at && i < field.count; ++i) {
    int64_t id = load_integer(field.value, at + i * field.value.size);
    if (id == 0) continue;
    End end{slot + i, place.time, place.end, place.stream, out ? 1u : 0u};
    ids_.add(id, place.time, 0, &end, sizeof(end));
  }
  next_slot_.store(slot + field.count, std::memory_order_relaxed);
}

void FlowTable::add_value(const Row& row, const RowLayout& layout, int entry,
                          const FlowPlace& place) {
  const SchemaEntry& field = row.schema->entries[static_cast<size_t>(entry)];
  const uint8_t* at = layout.at(entry);
  uint64_t slot = next_slot_.load(std::memory_order_relaxed);
  int64_t value = at ? load_integer(field.value, at) : 0;
  if (value != 0) {
    End end{slot, place.time, place.end, place.stream, 0};
    values_.add(value, place.time, domain_number(field.correlation.domain), &end, sizeof(end));
  }
  next_slot_.store(slot + 2, std::memory_order_relaxed);
}

uint32_t FlowTable::domain_number(const uint64_t domain[2]) {
  auto number = static_cast<uint32_t>(domains_.size());
  return domains_.emplace(std::make_pair(domain[0], domain[1]), number).first->second;
}

void FlowTable::settle(RunSorter& results, uint64_t slot, uint64_t edge) {
  results.add(static_cast<int64_t>(slot), 0, 0, &edge, sizeof(edge));
  results.spill_if_short();
}

// An edge runs from an out to the next in of its id, in the order the engine meets them.
void FlowTable::match_ids(RunSorter& results) {
  std::vector<End> ends;
  int64_t id = 0;
  auto match = [&] {
    std::sort(ends.begin(), ends.end(),
              [](const End& a, const End& b) { return a.order() < b.order(); });
    std::vector<bool> used(ends.size(), false);
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].out == 0 || used[i]) continue;
      size_t in = i + 1;
      while (in < ends.size() && (used[in] || ends[in].out == 1)) ++in;
      if (in == ends.size()) continue;
      used[i] = used[in] = true;
      uint64_t edge = next_edge_++;
      settle(results, ends[i].slot, edge);
      settle(results, ends[in].slot, edge);
    }
    uint64_t reversed = 0;
    uint64_t unbound = 0;
    uint64_t waiting = 0;  // ins that came before any out of theirs
    for (size_t i = 0; i < ends.size(); ++i) {
      if (used[i]) continue;
      settle(results, ends[i].slot, kUndrawn);
      if (ends[i].out == 0) {
        ++waiting;
      } else if (waiting > 0) {
        --waiting;
        ++reversed;
      } else {
        ++unbound;
      }
    }
    if (reversed) summary_.add(Count::kFlowsReversed, reversed);
    if (unbound + waiting) summary_.add(Count::kFlowsUnbound, unbound + waiting);
    ends.clear();
  };
  ids_.drain([&](const Record& record) {
    if (!ends.empty() && record.head.first != id) match();
    id = record.head.first;
    End end;
    std::memcpy(&end, record.bytes, sizeof(end));
    ends.push_back(end);
  });
  match();
}

// Events that share a correlation value are chained in time.
void FlowTable::match_values(RunSorter& results) {
  std::map<uint32_t, End> last;
  int64_t value = 0;
  values_.drain([&](const Record& record) {
    if (record.head.first != value) last.clear();
    value = record.head.first;
    End end;
    std::memcpy(&end, record.bytes, sizeof(end));
    auto before = last.find(record.head.tag);
    if (before != last.end()) {
      if (before->second.order() < end.order()) {
        uint64_t edge = next_edge_++;
        settle(results, before->second.slot + 1, edge);
        settle(results, end.slot, edge);
      } else {
        summary_.add(Count::kFlowsReversed);
      }
    }
    last[record.head.tag] = end;
  });
}

void FlowTable::enter(Event& event, bool closes, uint32_t stream) {
  event.has_flows = std::any_of(event.rows, event.rows + event.row_count,
                                [](const Row& row) { return row.schema->plan.has_flows(); });
  if (event.has_flows && closes) {
    summary_.add(Count::kFlowsUnbound);
    event.has_flows = false;
  }
  if (event.has_flows) {
    event.first_flow = add(event.rows, event.row_count, {event.begin, stream, event.end});
  }
}

bool FlowTable::resolve() {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t slots = next_slot_.load(std::memory_order_relaxed);
  if (slots == 0) return true;
  RunSorter results(budget_, file_);
  match_ids(results);
  match_values(results);
  edges_offset_ = file_.allocate(slots * sizeof(uint64_t));
  if (edges_offset_ < 0) return false;
  std::vector<uint64_t> block(kBlockSlots, 0);
  uint64_t first = 0;
  bool good = true;
  auto write_block = [&] {
    uint64_t count = std::min(kBlockSlots, slots - first);
    good = file_.write_at(edges_offset_ + static_cast<int64_t>(first * sizeof(uint64_t)),
                          block.data(), count * sizeof(uint64_t)) &&
           good;
    std::fill(block.begin(), block.end(), 0);
    first += kBlockSlots;
  };
  bool drained = results.drain([&](const Record& record) {
    auto slot = static_cast<uint64_t>(record.head.first);
    while (slot >= first + kBlockSlots) write_block();
    std::memcpy(&block[slot - first], record.bytes, sizeof(uint64_t));
  });
  while (first < slots) write_block();
  return good && drained;
}

uint64_t FlowTable::edge_at(uint64_t slot) const {
  if (edges_offset_ < 0) return kUndrawn;
  uint64_t first = slot / kBlockSlots * kBlockSlots;
  if (first != block_first_) {
    uint64_t slots = next_slot_.load(std::memory_order_relaxed);
    uint64_t count = std::min(kBlockSlots, slots - first);
    block_.clear();
    int64_t offset = edges_offset_ + static_cast<int64_t>(first * sizeof(uint64_t));
    if (!file_.read(offset, block_.reserve(count * 8), count * 8)) return kUndrawn;
    block_.commit(count * 8);
    block_first_ = first;
  }
  uint64_t edge;
  std::memcpy(&edge, block_.data() + (slot - first) * sizeof(edge), sizeof(edge));
  return edge;
}

}  // namespace nvtx_perfetto
