// SPDX-License-Identifier: Apache-2.0
#include "model/clock_ties.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace nvtx_perfetto {
namespace {

bool narrow(__int128 value, int64_t& out) {
  out = static_cast<int64_t>(value);
  return value >= INT64_MIN && value <= INT64_MAX;
}

}  // namespace

void ClockTies::add_point(ClockKey a, ClockKey b, int64_t time_a, int64_t time_b) {
  if (a == b) return;
  bool swap = b < a;
  Tie& tie = ties_[swap ? std::make_pair(b, a) : std::make_pair(a, b)];
  tie.points.emplace_back(swap ? time_b : time_a, swap ? time_a : time_b);
}

void ClockTies::add_factor(ClockKey from, ClockKey to, double slope, int64_t anchor_from,
                           int64_t anchor_to) {
  if (from == to) return;
  bool swap = to < from;
  Tie& tie = ties_[swap ? std::make_pair(to, from) : std::make_pair(from, to)];
  tie.linear = true;
  tie.slope = swap ? 1 / slope : slope;
  tie.points.clear();
  tie.points.emplace_back(swap ? anchor_to : anchor_from, swap ? anchor_from : anchor_to);
}

bool ClockTies::any(ClockKey key) const {
  return std::any_of(ties_.begin(), ties_.end(), [key](const auto& tie) {
    return tie.first.first == key || tie.first.second == key;
  });
}

std::vector<ClockKey> ClockTies::route(ClockKey from, ClockKey to) const {
  std::map<ClockKey, ClockKey> came_from{{from, from}};
  std::deque<ClockKey> open{from};
  while (!open.empty() && !came_from.count(to)) {
    ClockKey at = open.front();
    open.pop_front();
    for (const auto& [pair, tie] : ties_) {
      ClockKey next = pair.first == at ? pair.second : pair.second == at ? pair.first : kNoClock;
      if (next != kNoClock && came_from.emplace(next, at).second) open.push_back(next);
    }
  }
  std::vector<ClockKey> keys;
  if (!came_from.count(to)) return keys;
  for (ClockKey at = to; at != from; at = came_from[at]) keys.push_back(at);
  keys.push_back(from);
  std::reverse(keys.begin(), keys.end());
  return keys;
}

bool ClockTies::tied(ClockKey from, ClockKey to) const {
  return from == to || !route(from, to).empty();
}

std::vector<ClockTies::Step> ClockTies::path(ClockKey from, ClockKey to) const {
  std::vector<Step> steps;
  std::vector<ClockKey> keys = route(from, to);
  for (size_t i = 1; i < keys.size(); ++i) steps.push_back(step(keys[i - 1], keys[i]));
  return steps;
}

ClockTies::Step ClockTies::step(ClockKey from, ClockKey to) const {
  bool swap = to < from;
  const Tie& tie = ties_.at(swap ? std::make_pair(to, from) : std::make_pair(from, to));
  Step out;
  for (const auto& [first, second] : tie.points) {
    out.points_.push_back(swap ? Step::Point{second, first} : Step::Point{first, second});
  }
  std::stable_sort(out.points_.begin(), out.points_.end(),
                   [](const auto& a, const auto& b) { return a.from < b.from; });
  // A time line never stands still or runs back; points that say so are passed over.
  std::vector<Step::Point> kept;
  for (const Step::Point& point : out.points_) {
    if (kept.empty() || (point.from > kept.back().from && point.to > kept.back().to)) {
      kept.push_back(point);
    } else if (point.from != kept.back().from || point.to != kept.back().to) {
      ++bad_points_;
    }
  }
  out.points_ = std::move(kept);
  if (tie.linear) {
    double slope = swap ? 1 / tie.slope : tie.slope;
    int exponent = 0;
    out.mantissa_ = static_cast<int64_t>(std::ldexp(std::frexp(slope, &exponent), 53));
    out.exponent_ = exponent - 53;
    out.linear_ = true;
  }
  return out;
}

bool ClockTies::Step::convert(int64_t from, int64_t& to) const {
  const Point& first = points_.front();
  __int128 away = static_cast<__int128>(from) - first.from;
  if (linear_) {
    __int128 product = away * mantissa_;
    if (exponent_ >= 0) {
      // Such a slope takes all but the nearest times out of 64 bits.
      if (exponent_ > 10 || product > INT64_MAX || product < INT64_MIN) {
        to = first.to;
        return away == 0;
      }
      product *= static_cast<__int128>(1) << exponent_;
    } else {
      product =
          exponent_ < -120 ? 0 : divide_to_nearest(product, static_cast<__int128>(1) << -exponent_);
    }
    return narrow(product + first.to, to);
  }
  if (points_.size() == 1) return narrow(away + first.to, to);
  auto after = std::upper_bound(points_.begin() + 1, points_.end() - 1, from,
                                [](int64_t time, const Point& p) { return time < p.from; });
  const Point& low = *(after - 1);
  const Point& high = *after;
  __int128 numerator;
  if (__builtin_mul_overflow(static_cast<__int128>(from) - low.from,
                             static_cast<__int128>(high.to) - low.to, &numerator)) {
    return false;
  }
  __int128 value = divide_to_nearest(numerator, static_cast<__int128>(high.from) - low.from);
  return narrow(value + low.to, to);
}

uint64_t ClockTies::Step::residual() const {
  if (points_.size() < 3) return 0;
  const Point& first = points_.front();
  const Point& last = points_.back();
  uint64_t worst = 0;
  for (const Point& point : points_) {
    __int128 numerator;
    if (__builtin_mul_overflow(static_cast<__int128>(point.from) - first.from,
                               static_cast<__int128>(last.to) - first.to, &numerator)) {
      continue;
    }
    __int128 on_line = divide_to_nearest(numerator, static_cast<__int128>(last.from) - first.from);
    __int128 off = static_cast<__int128>(point.to) - first.to - on_line;
    worst = std::max(worst, static_cast<uint64_t>(off < 0 ? -off : off));
  }
  return worst;
}

bool convert(const std::vector<ClockTies::Step>& path, int64_t from, int64_t& to) {
  to = from;
  for (const ClockTies::Step& step : path) {
    if (!step.convert(to, to)) return false;
  }
  return true;
}

}  // namespace nvtx_perfetto
