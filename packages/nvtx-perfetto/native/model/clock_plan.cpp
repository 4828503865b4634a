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
  if (ties_.tied(key, trace_) || rules_.unrelated_allowed) return Verdict::kDeferred;
  problem = "the trace is on " + clock_name(trace_) + " and nothing ties " + clock_name(key) +
            " to it; write a sync point first, set clock_snapshot=host when both are this"
            " machine's, or unrelated_clocks=allow to start each clock at 0";
  return Verdict::kRefused;
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

void ClockPlan::note_time(ClockKey key, int64_t time) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto [found, fresh] = earliest_.emplace(key, time);
  if (!fresh) found->second = std::min(found->second, time);
}

void ClockPlan::settle() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (trace_ == kNoClock) trace_ = first_;
  settled_ = true;
}

const ClockPlan::Conversion& ClockPlan::conversion(ClockKey from, ClockKey to) const {
  auto [found, fresh] = conversions_.try_emplace({from, to});
  Conversion& out = found->second;
  if (!fresh) return out;
  if (from == to) {
    out.way = Way::kSame;
  } else if (ties_.tied(from, to)) {
    out.way = Way::kTied;
    out.steps = ties_.path(from, to);
    for (const auto& step : out.steps) summary_.raise(Count::kClockResidualNs, step.residual());
    if (ties_.bad_points()) summary_.raise(Count::kBadSyncPoints, ties_.bad_points());
  } else if (rules_.unrelated_allowed) {
    out.way = Way::kShifted;
    auto earliest = earliest_.find(from);
    out.shift = earliest == earliest_.end() ? 0 : earliest->second;
    summary_.add(Count::kUnrelatedClocks);
  }
  return out;
}

bool ClockPlan::in_file_range(int64_t time, int64_t& out) const {
  // Perfetto holds 0 to 2^63 - 1; the last one stands for "never" in here.
  if (__builtin_add_overflow(time, rules_.time_offset, &out) || out < 0 || out == INT64_MAX) {
    summary_.add(Count::kDroppedTimes);
    return false;
  }
  return true;
}

bool ClockPlan::place_direct(const TimeSource& source, int64_t ticks, int64_t& time) const {
  int64_t nanoseconds;
  if (!source.convert(ticks, nanoseconds)) {
    summary_.add(Count::kDroppedTimes);
    return false;
  }
  return in_file_range(nanoseconds, time);
}

bool ClockPlan::place(const TimeSource& source, int64_t ticks, ClockKey target,
                      int64_t& time) const {
  if (source.key == target) return place_direct(source, ticks, time);
  int64_t nanoseconds;
  if (!source.convert(ticks, nanoseconds)) {
    summary_.add(Count::kDroppedTimes);
    return false;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const Conversion& way = conversion(source.key, target);
  bool good = way.way == Way::kTied ? convert(way.steps, nanoseconds, nanoseconds)
                                    : !__builtin_sub_overflow(nanoseconds, way.shift, &nanoseconds);
  if (way.way == Way::kNone) {
    summary_.add(Count::kDroppedUntied);
    return false;
  }
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
