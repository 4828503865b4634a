// SPDX-License-Identifier: Apache-2.0
#include "model/range_lanes.h"

namespace nvtx_perfetto {

Lane& RangeLanes::new_lane() {
  lanes_.push_back(std::make_unique<Lane>(out_, tracks_(), clock_));
  return *lanes_.back();
}

bool RangeLanes::begin(Lane& lane, const Event& event) {
  if (!out_.open_for_events()) {
    summary_.add(Count::kDroppedOverLimit);
    return false;
  }
  emitter_.emit(lane.packets, event);
  return true;
}

void RangeLanes::begin_and_hold(Lane& lane, const Event& event) {
  if (event.shape == Shape::kInstant && lane.last_instant != event.begin) {
    lane.last_instant = event.begin;
    begin(lane, event);
    return;
  }
  // The engine puts an instant inside the instant before it when both have one time. An
  // empty slice reads the same and stays beside it.
  Event slice = event;
  if (event.shape == Shape::kInstant) slice.shape = Shape::kNested;
  bool written = begin(lane, slice);
  if (slice.end == slice.begin) {
    if (written) lane.packets.end_slice(slice.end);
  } else {
    lane.open.push_back({slice.begin, slice.end, written});
  }
}

void RangeLanes::close_top(Lane& lane) {
  const Lane::Open& top = lane.open.back();
  if (top.end == kNeverEnds) {
    summary_.add(Count::kRangesLeftOpen);
  } else if (top.written) {
    lane.packets.end_slice(top.end);
  }
  lane.open.pop_back();
}

void NestedLanes::close_until(NestedLanes& self, Lane& lane, int64_t time) {
  while (!lane.open.empty() && lane.open.back().end <= time) self.close_top(lane);
}

Lane& NestedLanes::choose(const Event& event) {
  Lane* holder = nullptr;
  Lane* idle = nullptr;
  int64_t latest = INT64_MIN;
  for (auto& lane : lanes_) {
    close_until(*this, *lane, event.begin);
    if (lane->open.empty()) {
      if (!idle) idle = lane.get();
      continue;
    }
    const Lane::Open& top = lane->open.back();
    if (event.end <= top.end && top.begin >= latest && (!holder || top.begin > latest)) {
      holder = lane.get();
      latest = top.begin;
    }
  }
  if (holder) return *holder;
  bool crossing = false;
  for (auto& lane : lanes_) crossing = crossing || !lane->open.empty();
  if (crossing) summary_.add(Count::kCrossings);
  return idle ? *idle : new_lane();
}

void NestedLanes::add(const Event& event) {
  if (lanes_.size() == 1) {
    // Nearly always there is one lane, and what comes nests in it.
    Lane& lane = *lanes_.front();
    close_until(*this, lane, event.begin);
    if (lane.open.empty() || event.end <= lane.open.back().end) {
      begin_and_hold(lane, event);
      return;
    }
  }
  begin_and_hold(choose(event), event);
}

void NestedLanes::finish() {
  for (auto& lane : lanes_) {
    while (!lane->open.empty()) close_top(*lane);
  }
}

void AsyncLanes::free_until(int64_t time) {
  while (!busy_.empty() && busy_.top().end <= time) {
    size_t index = busy_.top().lane;
    busy_.pop();
    close_top(*lanes_[index]);
    free_.push(index);
  }
}

void AsyncLanes::add(const Event& event) {
  free_until(event.begin);
  if (free_.empty()) {
    new_lane();
    free_.push(lanes_.size() - 1);
  }
  size_t index = free_.top();
  Lane& lane = *lanes_[index];
  begin_and_hold(lane, event);
  if (lane.open.empty()) return;
  free_.pop();
  busy_.push({event.end, index});
}

void AsyncLanes::finish() {
  for (auto& lane : lanes_) {
    while (!lane->open.empty()) close_top(*lane);
  }
  lanes_.clear();
}

}  // namespace nvtx_perfetto
