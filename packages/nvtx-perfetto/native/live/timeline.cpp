// SPDX-License-Identifier: Apache-2.0
#include "live/timeline.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nvtx_perfetto::live {
namespace {

const ClockKey kTarget = builtin_key(kRealtime);

// Beyond the keys that the model has for clocks and timestamp types.
ClockKey own_key(uint32_t domain, uint64_t time_domain) {
  constexpr int kIdBits = 40;
  return (uint64_t{domain} + 1) << kIdBits | (time_domain & ((uint64_t{1} << kIdBits) - 1));
}

}  // namespace

TimeSource Timeline::source(uint32_t domain, uint64_t time_domain) const {
  // What nvtxTimestampGet gives is REALTIME already, and what times are when no one says.
  if (time_domain <= NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED) return {kTarget};
  if (auto known = predefined_source(time_domain)) return *known;
  const TimeDomain* found = catalog_.domain(domain).find_time_domain(time_domain);
  return found ? domain_source(*found, own_key(domain, time_domain)) : TimeSource{};
}

void Timeline::tie_host(ClockTies& ties, const ClockReading& clocks) const {
  int64_t realtime = clocks.boottime + file_.header().realtime_offset;
  ties.add_point(builtin_key(kBoottime), kTarget, clocks.boottime, realtime);
  ties.add_point(builtin_key(kMonotonic), kTarget, clocks.monotonic, realtime);
  ties.add_point(builtin_key(kMonotonicRaw), kTarget, clocks.monotonic_raw, realtime);
  ClockKey ticks = predefined_source(NVTX_TIMESTAMP_TYPE_CPU_TSC)->key;
  if (clocks.ticks != 0) ties.add_point(ticks, kTarget, clocks.ticks, realtime);
}

void Timeline::read(const ClockReading& clocks) {
  clocks_ = clocks;
  host_ = ClockTies();
  tie_host(host_, file_.header().first_clocks);
  tie_host(host_, clocks);
  paths_.clear();
}

void Timeline::settle() {
  tie_host(ties_, file_.header().first_clocks);
  tie_host(ties_, clocks_);
  settled_ = true;
  paths_.clear();
}

bool Timeline::known(uint32_t domain, uint64_t time_domain) const {
  return builtin_of(source(domain, time_domain).key).has_value();
}

void Timeline::add_tie(const RecordView& record) {
  ClockTieHead head;
  if (!record.bytes || record.bytes->size < sizeof(head)) return;
  std::memcpy(&head, record.data(), sizeof(head));
  TimeSource from = source(record.head->domain, head.from);
  TimeSource to = source(record.head->domain, head.to);
  if (from.key == kNoClock || to.key == kNoClock) {
    ++bad_ids_;
    return;
  }
  size_t room = (record.bytes->size - sizeof(head)) / sizeof(nvtxSyncPoint_t);
  for (size_t i = 0; i < std::min<size_t>(record.bytes->count, room); ++i) {
    nvtxSyncPoint_t point;
    std::memcpy(&point, record.data() + sizeof(head) + i * sizeof(point), sizeof(point));
    int64_t a;
    int64_t b;
    if (!from.convert(point.src, a) || !to.convert(point.dst, b)) {
      ++bad_points_;
    } else if (head.slope == 0) {
      ties_.add_point(from.key, to.key, a, b);
    } else {
      // The factor is given in ticks; clocks here count nanoseconds.
      double scale_from =
          static_cast<double>(from.numerator) / static_cast<double>(from.denominator);
      double scale_to = static_cast<double>(to.numerator) / static_cast<double>(to.denominator);
      ties_.add_factor(from.key, to.key, head.slope * scale_to / scale_from, a, b);
    }
  }
}

const std::vector<ClockTies::Step>& Timeline::path(ClockKey key) {
  auto [found, fresh] = paths_.try_emplace(key);
  if (fresh) {
    found->second = (settled_ ? ties_ : host_).path(key, kTarget);
    for (const ClockTies::Step& step : found->second) {
      residual_ = std::max(residual_, step.residual());
    }
  }
  return found->second;
}

Timeline::Answer Timeline::place(uint32_t domain, uint64_t time_domain, int64_t ticks,
                                 int64_t& realtime) {
  TimeSource from = source(domain, time_domain);
  if (from.key == kNoClock) return Answer::kUntied;
  if (!from.convert(ticks, realtime)) return Answer::kBeyond;
  if (from.key != kTarget) {
    const auto& steps = path(from.key);
    if (steps.empty()) return Answer::kUntied;
    if (!convert(steps, realtime, realtime)) return Answer::kBeyond;
  }
  // Perfetto holds 0 to 2^63 - 1; the last one stands for a range that never ends.
  return realtime >= 0 && realtime != INT64_MAX ? Answer::kPlaced : Answer::kBeyond;
}

}  // namespace nvtx_perfetto::live
