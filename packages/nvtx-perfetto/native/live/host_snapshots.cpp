// SPDX-License-Identifier: Apache-2.0
#include "live/host_snapshots.h"

#include <algorithm>

#include "live/wire_reader.h"
#include "perfetto/field_numbers.h"
#include "perfetto/header.h"

namespace nvtx_perfetto::live {
namespace {

using namespace field;

// Sequence clocks begin here; below are the machine's.
constexpr uint64_t kFirstSequenceClock = 64;
// REALTIME minus BOOTTIME of one host is the same but for corrections of its clock.
constexpr int64_t kSameHost = 1'000'000'000;

struct ClockReading {
  uint64_t id = 0;
  uint64_t time = 0;
};

template <typename Visit>
void each_clock(std::string_view snapshot, const Visit& visit) {
  WireReader reader(snapshot);
  WireField field;
  while (reader.next(field)) {
    if (field.number != kClockSnapshot_clocks) continue;
    ClockReading reading;
    WireReader inner(field.bytes);
    WireField part;
    while (inner.next(part)) {
      if (part.number == kClock_clock_id) reading.id = part.value;
      if (part.number == kClock_timestamp) reading.time = part.value;
    }
    visit(reading);
  }
}

}  // namespace

HostSnapshots::Kind HostSnapshots::kind_of(std::string_view snapshot) {
  int clocks = 0;
  bool sequence = false;
  each_clock(snapshot, [&](const ClockReading& reading) {
    ++clocks;
    sequence |= reading.id >= kFirstSequenceClock;
  });
  return clocks == 0 ? Kind::kHeader : sequence ? Kind::kSequence : Kind::kHost;
}

int64_t HostSnapshots::Snapshot::offset() const {
  return static_cast<int64_t>(times[kRealtime] - times[kBoottime]);
}

void HostSnapshots::add(size_t input, std::string_view snapshot) {
  if (inputs_.size() <= input) inputs_.resize(input + 1);
  WireReader reader(snapshot);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kClockSnapshot_primary_trace_clock) inputs_[input].primary = field.value;
  }
  Kind kind = kind_of(snapshot);
  Snapshot host;
  host.bytes = snapshot;
  host.input = input;
  each_clock(snapshot, [&](const ClockReading& reading) {
    if (reading.id < kClocks) host.times[reading.id] = reading.time;
    bool other = reading.id < kFirstSequenceClock && reading.id != kRealtime;
    if (kind == Kind::kSequence && other) inputs_[input].other_clocks = true;
  });
  if (kind == Kind::kHost && host.times[kRealtime] && host.times[kBoottime]) host_.push_back(host);
}

bool HostSnapshots::may_match(size_t a, size_t b) const {
  return std::none_of(host_.begin(), host_.end(), [&](const Snapshot& one) {
    return one.input == a && std::any_of(host_.begin(), host_.end(), [&](const Snapshot& other) {
             return other.input == b && !same_host({one, other});
           });
  });
}

bool HostSnapshots::same_host(const std::vector<Snapshot>& snapshots) const {
  return std::all_of(snapshots.begin(), snapshots.end(), [&](const Snapshot& one) {
    int64_t difference = one.offset() - snapshots.front().offset();
    return difference < kSameHost && difference > -kSameHost;
  });
}

std::vector<std::string_view> HostSnapshots::chosen(std::string& problem) const {
  std::vector<Snapshot> kept = host_;
  if (!same_host(kept)) {
    kept.erase(
        std::remove_if(kept.begin(), kept.end(),
                       [&](const Snapshot& one) { return !inputs_[one.input].other_clocks; }),
        kept.end());
    if (!same_host(kept)) {
      problem =
          "traces of several hosts use clocks that count from a host's start, which one trace "
          "cannot hold; write them on REALTIME";
      return {};
    }
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Snapshot& a, const Snapshot& b) {
    return a.times[kRealtime] < b.times[kRealtime];
  });
  std::vector<std::string_view> out;
  const Snapshot* before = nullptr;
  for (const Snapshot& one : kept) {
    bool back = false;
    for (int i = 0; before && i < kClocks; ++i) back |= one.times[i] < before->times[i];
    if (back) continue;
    out.push_back(one.bytes);
    before = &one;
  }
  return out;
}

}  // namespace nvtx_perfetto::live
