// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "io/run_sorter.h"
#include "model/event_track.h"

namespace nvtx_perfetto {

// Starts and ends that name their range by an id, from whatever tracks they come. Not safe for
// use by several threads at once.
class RangeHalves {
 public:
  RangeHalves(MemoryBudget& budget, SpillFile& spill, Summary& summary)
      : budget_(budget), summary_(summary), halves_(budget, spill) {}

  struct Half {
    bool start;
    uint64_t id;
    int64_t time;
    EventTrack* track;
    const Row* rows;
    uint32_t row_count;
    bool has_flows;
    uint64_t first_flow;
    uint64_t batch_scope = 0;
    uint32_t stream = 0;
  };
  void keep(const Half& half);
  // Whose halves are spilled, for whoever finds them.
  void set_label(const SpillLabel& label) { halves_.set_label(label); }
  bool spill() { return halves_.spill(); }
  // Keeps a range on its start's track for every start. Starts and ends of one id alternate in
  // time.
  void pair();

 private:
  class Pairing;

  MemoryBudget& budget_;
  Summary& summary_;
  RunSorter halves_;
};

}  // namespace nvtx_perfetto
