// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/time_source.h"

namespace nvtx_perfetto {

// Sync points and conversion factors between clocks, and the conversions they give. Times
// are nanoseconds of the keys' time lines. Not safe for use by several threads at once.
class ClockTies {
 public:
  void add_point(ClockKey a, ClockKey b, int64_t time_a, int64_t time_b);
  // to = anchor_to + (from - anchor_from) * slope
  void add_factor(ClockKey from, ClockKey to, double slope, int64_t anchor_from, int64_t anchor_to);

  bool tied(ClockKey from, ClockKey to) const;
  bool any(ClockKey key) const;

  // One step of a conversion: between points the time line is interpolated, outside them the
  // nearest two go on; a single point shifts.
  class Step {
   public:
    bool convert(int64_t from, int64_t& to) const;
    // How far the points lie from the straight line through the first and last, in ns.
    uint64_t residual() const;

   private:
    friend class ClockTies;
    struct Point {
      int64_t from;
      int64_t to;
    };
    std::vector<Point> points_;
    bool linear_ = false;
    // slope = mantissa * 2^exponent, exactly
    int64_t mantissa_ = 0;
    int exponent_ = 0;
  };

  // The steps that lead from one clock to another; empty when nothing ties them.
  std::vector<Step> path(ClockKey from, ClockKey to) const;
  uint64_t bad_points() const { return bad_points_; }

 private:
  struct Tie {
    std::vector<std::pair<int64_t, int64_t>> points;
    bool linear = false;
    double slope = 1;
  };
  Step step(ClockKey from, ClockKey to) const;
  std::vector<ClockKey> route(ClockKey from, ClockKey to) const;

  std::map<std::pair<ClockKey, ClockKey>, Tie> ties_;
  mutable uint64_t bad_points_ = 0;
};

bool convert(const std::vector<ClockTies::Step>& path, int64_t from, int64_t& to);

}  // namespace nvtx_perfetto
