// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/run_sorter.h"
#include "model/event.h"
#include "model/event_emitter.h"
#include "model/range_lanes.h"
#include "model/track_tree.h"

namespace nvtx_perfetto {

// What one session shares among all that write to it.
struct Workshop {
  TrackTree& tracks;
  Summary& summary;
  MemoryBudget& budget;
  SpillFile& spill;
  FlowTable& flows;
};

// All events of one stream in one scope: a nesting stack of their own. Events are either
// passed on in order or kept, sorted, until flush().
class EventTrack {
 public:
  EventTrack(const Workshop& shop, PacketBuffer& out, EventEmitter& emitter, uint64_t parent,
             std::string name);

  void set_clock(uint32_t clock) { clock_ = clock; }
  // Whose events are spilled, for whoever finds them.
  void set_stream(uint32_t number);
  // Its own track holds rows that are not known here, so it is left to them.
  void leave_own_track() { main_lane_used_ = true; }
  // Writes an event at once. Call only when begin >= frontier() and nothing kept comes first.
  void pass(const Event& event);
  void keep(const Event& event);
  // A push (with rows) or a pop; they are paired in time order at flush_halves().
  void keep_half(bool push, int64_t time, const Row* rows, uint32_t count, bool has_flows,
                 uint64_t first_flow, uint64_t batch_scope = 0);

  // Pairs the halves into kept ranges.
  void flush_halves();
  // Writes what is kept. Events before the frontier go on lanes of their own.
  void flush();
  void finish();

  int64_t frontier() const { return frontier_; }
  int64_t newest_kept() const { return newest_kept_; }
  // The last time the stream's claim was checked for here.
  int64_t claimed() const { return claimed_; }
  void set_claimed(int64_t time) { claimed_ = time; }
  bool has_kept() const { return !kept_.empty(); }
  bool spilled() const { return kept_.spilled() || halves_.spilled(); }
  size_t memory() const { return kept_.memory() + halves_.memory(); }
  void spill();
  // The stream's own track in this scope.
  uint64_t track() const { return track_; }
  const EventNames& names() const { return emitter_.names(); }
  uint64_t lost() const { return kept_.lost() + halves_.lost(); }

 private:
  RangeLanes& nested(bool late);
  RangeLanes& async(bool late);
  void place(const Event& event, bool late);
  void keep_pair(const uint8_t* push, uint32_t tag, int64_t begin, int64_t end, const uint8_t* pop,
                 uint32_t pop_rows);

  Workshop shop_;
  PacketBuffer& out_;
  EventEmitter& emitter_;
  const uint64_t parent_;
  const std::string name_;
  const uint64_t track_;
  uint32_t clock_ = 0;
  bool main_lane_used_ = false;
  int64_t frontier_ = INT64_MIN;
  int64_t newest_kept_ = INT64_MIN;
  int64_t claimed_ = INT64_MIN;
  std::vector<Row> rows_;  // of the event being flushed
  RunSorter kept_;
  RunSorter halves_;
  std::unique_ptr<NestedLanes> nested_;
  std::unique_ptr<NestedLanes> late_;
  std::unique_ptr<AsyncLanes> async_;
  std::unique_ptr<AsyncLanes> late_async_;
};

}  // namespace nvtx_perfetto
