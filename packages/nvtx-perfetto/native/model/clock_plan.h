// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "model/clock_ties.h"
#include "model/summary.h"
#include "model/time_source.h"

namespace nvtx_perfetto {

// Which clock a session's trace is on, and how every other clock gets there.
class ClockPlan {
 public:
  struct Rules {
    bool host_snapshot = false;
    bool unrelated_allowed = false;
    int64_t time_offset = 0;
  };
  enum class Verdict {
    kDirect,    // times are written as they come
    kDeferred,  // they wait until the session's end, when all ties are known
    kRefused,
  };

  ClockPlan(const Rules& rules, Summary& summary) : rules_(rules), summary_(summary) {}

  // A stream opens on a clock. `own` says that nothing but ties given later can place it
  // (a registered domain). `problem` says why it is refused.
  Verdict admit(ClockKey key, bool own, std::string& problem);

  // Whether the trace belongs on this clock rather than on the one it began with: REALTIME goes
  // before any other that is tied to it.
  bool outranks(ClockKey key) const;
  // From now on the trace is on this clock.
  void lead(ClockKey key);

  void add_point(ClockKey a, ClockKey b, int64_t time_a, int64_t time_b);
  void add_factor(ClockKey from, ClockKey to, double slope, int64_t at_from, int64_t at_to);
  // This machine's clocks at one moment.
  void add_host_times(const HostTimes& times);
  // A time seen on a clock that waits, for clocks that start at 0.
  void note_time(ClockKey key, int64_t time);

  // Decides every conversion; nothing may be admitted afterwards.
  void settle();
  // From a source's ticks to the file, after settle(); false when it cannot be placed
  // (counted). `target` is the clock of the sequence that is written to.
  bool place(const TimeSource& source, int64_t ticks, ClockKey target, int64_t& time) const;
  // The same for a source whose key is the target's; good at any time.
  bool place_direct(const TimeSource& source, int64_t ticks, int64_t& time) const {
    if (!source.identity()) return place_scaled(source, ticks, time);
    return place_nanoseconds(ticks, time);
  }
  // The same for a source that counts the target's nanoseconds.
  bool place_nanoseconds(int64_t time, int64_t& out) const { return in_file_range(time, out); }

  // Moves a time of the file from one built-in clock to another that the host's times tie to
  // it; false when nothing does.
  bool carry(ClockKey from, ClockKey to, int64_t& time) const;

  int64_t time_offset() const { return rules_.time_offset; }
  ClockKey trace_clock() const;
  // The built-in clock that times of a key are written on.
  PerfettoClock written_clock(ClockKey key) const;

 private:
  struct Conversion {
    bool possible = false;
    std::vector<ClockTies::Step> steps;
    int64_t shift = 0;  // subtracted after the steps
  };
  bool place_scaled(const TimeSource& source, int64_t ticks, int64_t& time) const;
  // Perfetto holds 0 to 2^63 - 1; the last one stands for "never" in here.
  bool in_file_range(int64_t time, int64_t& out) const {
    bool good =
        !__builtin_add_overflow(time, rules_.time_offset, &out) && out >= 0 && out != INT64_MAX;
    if (__builtin_expect(!good, 0)) summary_.add(Count::kDroppedTimes);
    return good;
  }
  const Conversion& conversion(ClockKey from, ClockKey to) const;
  ClockKey kin(ClockKey key) const;
  int64_t earliest_of(ClockKey key) const;

  const Rules rules_;
  Summary& summary_;
  mutable std::mutex mutex_;
  ClockTies ties_;
  ClockKey first_ = kNoClock;
  ClockKey trace_ = kNoClock;
  bool apart_ = false;  // some clocks are tied to nothing, and each starts at 0
  std::map<ClockKey, int64_t> earliest_;
  mutable std::map<std::pair<ClockKey, ClockKey>, Conversion> conversions_;
};

}  // namespace nvtx_perfetto
