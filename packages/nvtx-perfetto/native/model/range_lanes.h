// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "model/event.h"
#include "model/event_emitter.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto {

// One row of slices: a track, its packets, and the ranges that are open on it.
struct Lane {
  Lane(PacketBuffer& out, uint64_t track, uint32_t clock) : packets(out, track, clock) {}

  struct Open {
    int64_t begin;
    int64_t end;
    bool written;  // its begin is in the file
  };
  PacketSequence packets;
  std::vector<Open> open;
  int64_t last_instant = -1;
};

// Makes the track of a new lane.
using LaneTracks = std::function<uint64_t()>;

// Places events that come in the order (begin, longest first, arrival) on lanes.
class RangeLanes {
 public:
  RangeLanes(PacketBuffer& out, uint32_t clock, EventEmitter& emitter, Summary& summary,
             LaneTracks tracks)
      : out_(out), clock_(clock), emitter_(emitter), summary_(summary), tracks_(std::move(tracks)) {
  }
  virtual ~RangeLanes() = default;
  RangeLanes(const RangeLanes&) = delete;
  RangeLanes& operator=(const RangeLanes&) = delete;

  virtual void add(const Event& event) = 0;
  // Ends what is open, except what never ends, which is counted.
  virtual void finish() = 0;

 protected:
  Lane& new_lane();
  // Writes the begin, or drops the event when the file takes no more.
  bool begin(Lane& lane, const Event& event);
  void begin_and_hold(Lane& lane, const Event& event);
  void close_top(Lane& lane);

  PacketBuffer& out_;
  const uint32_t clock_;
  EventEmitter& emitter_;
  Summary& summary_;
  LaneTracks tracks_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

// Push/pop ranges and instants. Nesting stays on one lane; a range that crosses what is
// open goes on the lane whose innermost open range is the latest-begun one that contains it,
// otherwise on the lowest lane free at its begin, otherwise on a new lane.
class NestedLanes final : public RangeLanes {
 public:
  using RangeLanes::RangeLanes;
  void add(const Event& event) override;
  void finish() override;

 private:
  static void close_until(NestedLanes& self, Lane& lane, int64_t time);
  Lane& choose(const Event& event);
};

// Start/end ranges: each has a lane to itself, the lowest that is free.
class AsyncLanes final : public RangeLanes {
 public:
  using RangeLanes::RangeLanes;
  void add(const Event& event) override;
  void finish() override;

 private:
  struct Busy {
    int64_t end;
    size_t lane;
    bool operator>(const Busy& other) const {
      return end != other.end ? end > other.end : lane > other.lane;
    }
  };
  void free_until(int64_t time);

  std::priority_queue<Busy, std::vector<Busy>, std::greater<Busy>> busy_;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<size_t>> free_;
};

}  // namespace nvtx_perfetto
