// SPDX-License-Identifier: Apache-2.0
#include "model/clock_plan.h"

#include <algorithm>

namespace nvtx_perfetto {
namespace {

std::string clock_name(ClockKey key) {
  if (auto clock = builtin_of(key)) {
    switch (*clock) {
      case kRealtime: return "REALTIME";
      case kMonotonic: return "MONOTONIC";
      case kMonotonicRaw: return "MONOTONIC_RAW";
      case kBoottime: return "BOOTTIME";
    }
  }
  constexpr ClockKey kTypeKeys = 256;
  if (key == kTypeKeys) return "an unnamed clock (NVTX_TIMESTAMP_TYPE_NONE)";
  if (key < 2 * kTypeKeys) return "timestamp type " + std::to_string(key - kTypeKeys);
  return "time domain " + std::to_string(key);
}

}  // namespace

ClockPlan::Verdict ClockPlan::admit(ClockKey key, bool own, std::string& problem) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (first_ == kNoClock) first_ = key;
  if (rules_.unrelated_allowed) {
    // Whether a clock must start at 0 shows when all are known.
    if (!own && (trace_ == kNoClock || key == builtin_key(kRealtime))) trace_ = key;
    return Verdict::kDeferred;
  }
  if (own) return Verdict::kDeferred;
  if (trace_ == kNoClock || trace_ == key) {
    trace_ = key;
    return Verdict::kDirect;
  }
  bool both_builtin = builtin_of(trace_) && builtin_of(key);
  if (rules_.host_snapshot && both_builtin) {
    if (key == builtin_key(kRealtime)) trace_ = key;
    return Verdict::kDirect;
  }
  if (ties_.tied(key, trace_)) return Verdict::kDeferred;
  problem = "the trace is on " + clock_name(trace_) + " and nothing ties " + clock_name(key) +
            " to it; write a sync point first, set clock_snapshot=host when both are this"
            " machine's, or unrelated_clocks=allow to start each clock at 0";
  return Verdict::kRefused;
}

bool ClockPlan::outranks(ClockKey key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return key == builtin_key(kRealtime) && trace_ != key && ties_.tied(trace_, key);
}

void ClockPlan::lead(ClockKey key) {
  std::lock_guard<std::mutex> lock(mutex_);
  trace_ = key;
}

void ClockPlan::add_point(ClockKey a, ClockKey b, int64_t time_a, int64_t time_b) {
  std::lock_guard<std::mutex> lock(mutex_);
  ties_.add_point(a, b, time_a, time_b);
}

void ClockPlan::add_factor(ClockKey from, ClockKey to, double slope, int64_t at_from,
                           int64_t at_to) {
  std::lock_guard<std::mutex> lock(mutex_);
  ties_.add_factor(from, to, slope, at_from, at_to);
}

void ClockPlan::add_host_times(const HostTimes& times) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto& first = times.readings[0];
  for (const auto& reading : times.readings) {
    if (reading.clock == first.clock) continue;
    ties_.add_point(builtin_key(first.clock), builtin_key(reading.clock), first.time, reading.time);
  }
}

bool ClockPlan::carry(ClockKey from, ClockKey to, int64_t& time) const {
  if (from == to) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  return ties_.tied(from, to) && convert(ties_.path(from, to), time, time);
}

void ClockPlan::note_time(ClockKey key, int64_t time) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto [found, fresh] = earliest_.emplace(key, time);
  if (!fresh) found->second = std::min(found->second, time);
}

void ClockPlan::settle() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (trace_ == kNoClock) trace_ = first_;
  for (const auto& [key, time] : earliest_) {
    if (ties_.tied(key, trace_)) continue;
    apart_ = rules_.unrelated_allowed;
    if (apart_) summary_.add(Count::kUnrelatedClocks);
  }
}

// The clock that stands for all that are tied to one another: the trace's, or the first.
ClockKey ClockPlan::kin(ClockKey key) const {
  if (ties_.tied(key, trace_)) return trace_;
  for (const auto& [other, time] : earliest_) {
    if (ties_.tied(key, other)) return other;
  }
  return key;
}

// The first time on a clock or on any that is tied to it.
int64_t ClockPlan::earliest_of(ClockKey key) const {
  int64_t least = INT64_MAX;
  for (const auto& [other, time] : earliest_) {
    int64_t there;
    if (ties_.tied(other, key) && convert(ties_.path(other, key), time, there)) {
      least = std::min(least, there);
    }
  }
  return least == INT64_MAX ? 0 : least;
}

const ClockPlan::Conversion& ClockPlan::conversion(ClockKey from, ClockKey to) const {
  auto [found, fresh] = conversions_.try_emplace({from, to});
  Conversion& out = found->second;
  if (!fresh) return out;
  ClockKey on = apart_ ? kin(from) : to;
  if (!ties_.tied(from, on)) return out;
  out.possible = true;
  out.steps = ties_.path(from, on);
  for (const auto& step : out.steps) summary_.raise(Count::kClockResidualNs, step.residual());
  if (ties_.bad_points()) summary_.raise(Count::kBadSyncPoints, ties_.bad_points());
  if (apart_) out.shift = earliest_of(on);
  return out;
}

bool ClockPlan::place_scaled(const TimeSource& source, int64_t ticks, int64_t& time) const {
  int64_t nanoseconds;
  if (!source.convert(ticks, nanoseconds)) {
    summary_.add(Count::kDroppedTimes);
    return false;
  }
  return in_file_range(nanoseconds, time);
}

bool ClockPlan::place(const TimeSource& source, int64_t ticks, ClockKey target,
                      int64_t& time) const {
  if (source.key == target && !apart_) return place_direct(source, ticks, time);
  int64_t nanoseconds;
  if (!source.convert(ticks, nanoseconds)) {
    summary_.add(Count::kDroppedTimes);
    return false;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const Conversion& way = conversion(source.key, target);
  if (!way.possible) {
    summary_.add(Count::kDroppedUntied);
    return false;
  }
  bool good = convert(way.steps, nanoseconds, nanoseconds) &&
              !__builtin_sub_overflow(nanoseconds, way.shift, &nanoseconds);
  if (!good) summary_.add(Count::kDroppedTimes);
  return good && in_file_range(nanoseconds, time);
}

ClockKey ClockPlan::trace_clock() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return trace_;
}

PerfettoClock ClockPlan::written_clock(ClockKey key) const {
  return builtin_of(key).value_or(kBoottime);
}

}  // namespace nvtx_perfetto
