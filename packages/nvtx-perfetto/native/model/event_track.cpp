// SPDX-License-Identifier: Apache-2.0
#include "model/event_track.h"

#include <algorithm>
#include <cstring>

#include "model/packed_event.h"
#include "model/waiting_records.h"

namespace nvtx_perfetto {
namespace {

constexpr char kAsyncName[] = "start/end ranges";

// A half as it came: its time, its record's tag and its bytes.
struct Half {
  int64_t time;
  uint32_t tag;
  std::vector<uint8_t> bytes;

  explicit Half(const Record& record)
      : time(record.head.first), tag(record.head.tag),
        bytes(record.bytes, record.bytes + record.head.size) {}
};

}  // namespace

EventTrack::EventTrack(const Workshop& shop, PacketBuffer& out, EventEmitter& emitter,
                       uint64_t parent, std::string name)
    : shop_(shop), out_(out), emitter_(emitter), parent_(parent), name_(std::move(name)),
      track_(shop.tracks.add(parent, name_)), kept_(shop.budget, shop.spill),
      halves_(shop.budget, shop.spill) {}

RangeLanes& EventTrack::nested(bool late) {
  auto& lanes = late ? late_ : nested_;
  if (!lanes) {
    lanes = std::make_unique<NestedLanes>(out_, clock_, emitter_, shop_.summary, [this] {
      if (main_lane_used_) return shop_.tracks.add_lane(parent_, name_);
      main_lane_used_ = true;
      return track_;
    });
  }
  return *lanes;
}

RangeLanes& EventTrack::async(bool late) {
  auto& lanes = late ? late_async_ : async_;
  if (!lanes) {
    lanes = std::make_unique<AsyncLanes>(out_, clock_, emitter_, shop_.summary, [this] {
      return shop_.tracks.add_lane(track_, kAsyncName);
    });
  }
  return *lanes;
}

void EventTrack::place(const Event& event, bool late) {
  if (event.shape == Shape::kAsync) {
    async(late).add(event);
  } else {
    nested(late).add(event);
  }
}

void EventTrack::pass(const Event& event) {
  frontier_ = event.begin;
  place(event, false);
}

void EventTrack::keep(const Event& event) {
  newest_kept_ = std::max(newest_kept_, event.begin);
  pack_event(kept_, event);
}

void EventTrack::keep_half(bool push, int64_t time, const Row* rows, uint32_t count, bool has_flows,
                           uint64_t first_flow, uint64_t batch_scope) {
  HalfHead head{first_flow, batch_scope};
  uint32_t tag = (push ? HalfHead::kPushBit : 0) | (has_flows ? HalfHead::kFlowsBit : 0) |
                 count << HalfHead::kRowsShift;
  uint8_t* at = halves_.add(time, 0, tag, sizeof(head) + packed_rows_size(rows, count));
  std::memcpy(at, &head, sizeof(head));
  pack_rows(at + sizeof(head), rows, count);
}

void EventTrack::flush_halves() {
  std::vector<Half> open;
  // Pops of one time close from the inside out, but ranges equal in both times are kept
  // from the outside in, so that the first pushed stays the outer one.
  std::vector<std::pair<Half, Half>> closed;
  auto keep_closed = [&] {
    for (; !closed.empty(); closed.pop_back()) {
      keep_pair(closed.back().first.bytes.data(), closed.back().first.tag, closed.back().first.time,
                closed.back().second.time, closed.back().second.bytes.data(),
                closed.back().second.tag >> HalfHead::kRowsShift);
    }
  };
  halves_.drain([&](const Record& record) {
    bool push = (record.head.tag & HalfHead::kPushBit) != 0;
    if (!closed.empty() && (push || closed.back().second.time != record.head.first)) {
      keep_closed();
    }
    if (push) {
      open.emplace_back(record);
    } else if (open.empty()) {
      shop_.summary.add(Count::kUnmatchedPops);
    } else {
      closed.emplace_back(std::move(open.back()), Half(record));
      open.pop_back();
    }
  });
  keep_closed();
  for (const Half& push : open) {
    keep_pair(push.bytes.data(), push.tag, push.time, kNeverEnds, nullptr, 0);
  }
}

void EventTrack::keep_pair(const uint8_t* push, uint32_t tag, int64_t begin, int64_t end,
                           const uint8_t* pop, uint32_t pop_rows) {
  std::vector<Row> rows;
  Event event;
  event.begin = begin;
  event.end = end;
  HalfHead head;
  std::memcpy(&head, push, sizeof(head));
  event.has_flows = (tag & HalfHead::kFlowsBit) != 0;
  event.first_flow = head.first_flow;
  event.row_count = tag >> HalfHead::kRowsShift;
  event.pop_row_count = pop_rows;
  unpack_rows(push + sizeof(head), event.row_count, names(), rows);
  if (pop) unpack_rows(pop + sizeof(head), pop_rows, names(), rows);
  event.rows = rows.data();
  event.pop_rows = rows.data() + event.row_count;
  keep(event);
  if (shop_.budget.exceeded()) kept_.spill();
}

void EventTrack::flush() {
  int64_t frontier = frontier_;
  kept_.drain([&](const Record& record) {
    Event event = unpack_event(record, names(), rows_);
    bool late = event.begin < frontier;
    if (late) {
      shop_.summary.add(Count::kLateEvents);
    } else {
      frontier_ = std::max(frontier_, event.begin);
    }
    place(event, late);
  });
}

void EventTrack::set_stream(uint32_t number) {
  kept_.set_label({SpillKind::kEvents, number, 0});
  halves_.set_label({SpillKind::kHalves, number, 0});
}

void EventTrack::finish() {
  // Pairs that are spilled from here on are there as halves already.
  kept_.set_label({});
  flush_halves();
  flush();
  if (nested_) nested_->finish();
  if (late_) late_->finish();
  if (async_) async_->finish();
  if (late_async_) late_async_->finish();
}

void EventTrack::spill() {
  kept_.spill();
  halves_.spill();
}

}  // namespace nvtx_perfetto
