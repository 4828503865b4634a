// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "live/catalog.h"
#include "live/live_file.h"
#include "live/record.h"
#include "model/clock_ties.h"

namespace nvtx_perfetto::live {

// How ticks of any time domain become REALTIME. The machine's own clocks convert at any time, by
// readings of all of them; other time domains once the recording has ended and all that
// ties them is known.
class Timeline {
 public:
  Timeline(const LiveFile& file, const Catalog& catalog) : file_(file), catalog_(catalog) {}

  // The machine's clocks as they were last read.
  void read(const ClockReading& clocks);
  // Whether ticks convert without the program's ties.
  bool known(uint32_t domain, uint64_t time_domain) const;
  // Sync points or a factor from a record.
  void add_tie(const RecordView& record);
  // From here on all ties count.
  void settle();

  enum class Answer : uint8_t { kPlaced, kUntied, kBeyond };
  Answer place(uint32_t domain, uint64_t time_domain, int64_t ticks, int64_t& realtime);

  // What the conversions used so far had to put up with.
  uint64_t residual() const { return residual_; }
  uint64_t bad_points() const { return bad_points_ + ties_.bad_points(); }
  uint64_t bad_ids() const { return bad_ids_; }

 private:
  TimeSource source(uint32_t domain, uint64_t time_domain) const;
  void tie_host(ClockTies& ties, const ClockReading& clocks) const;
  const std::vector<ClockTies::Step>& path(ClockKey key);

  const LiveFile& file_;
  const Catalog& catalog_;
  ClockReading clocks_ = {};
  ClockTies host_;
  ClockTies ties_;
  bool settled_ = false;
  uint64_t residual_ = 0;
  uint64_t bad_points_ = 0;
  uint64_t bad_ids_ = 0;
  std::map<ClockKey, std::vector<ClockTies::Step>> paths_;
};

}  // namespace nvtx_perfetto::live
