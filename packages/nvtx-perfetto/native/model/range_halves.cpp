// SPDX-License-Identifier: Apache-2.0
#include "model/range_halves.h"

#include <cstring>
#include <vector>

#include "model/packed_event.h"
#include "model/waiting_records.h"

namespace nvtx_perfetto {
namespace {

using Head = RangeHalfHead;

}  // namespace

void RangeHalves::keep(const Half& half) {
  Head head{half.track, half.first_flow, half.batch_scope, half.stream};
  uint32_t tag = (half.start ? Head::kStartBit : 0) | (half.has_flows ? Head::kFlowsBit : 0) |
                 half.row_count << Head::kRowsShift;
  uint8_t* at = halves_.add(static_cast<int64_t>(half.id), half.time, tag,
                            sizeof(head) + packed_rows_size(half.rows, half.row_count));
  std::memcpy(at, &head, sizeof(head));
  pack_rows(at + sizeof(head), half.rows, half.row_count);
  halves_.spill_if_short();
}

// Takes halves in the order of their ids and times.
class RangeHalves::Pairing {
 public:
  Pairing(MemoryBudget& budget, Summary& summary) : budget_(budget), summary_(summary) {}

  void add(const Record& record) {
    auto id = static_cast<uint64_t>(record.head.first);
    bool opens = (record.head.tag & Head::kStartBit) != 0;
    if (id != id_ || opens) leave_open();
    id_ = id;
    if (opens) {
      begin_ = record.head.second;
      tag_ = record.head.tag;
      start_.assign(record.bytes, record.bytes + record.head.size);
    } else if (start_.empty()) {
      summary_.add(Count::kUnmatchedEnds);
    } else {
      keep(record.head.second, &record);
    }
  }
  void leave_open() {
    if (!start_.empty()) keep(kNeverEnds, nullptr);
  }

 private:
  void keep(int64_t end, const Record* closing) {
    Head head;
    std::memcpy(&head, start_.data(), sizeof(head));
    Event event;
    event.begin = begin_;
    event.end = end;
    event.shape = Shape::kAsync;
    event.has_flows = (tag_ & Head::kFlowsBit) != 0;
    event.first_flow = head.first_flow;
    event.row_count = tag_ >> Head::kRowsShift;
    event.pop_row_count = closing ? closing->head.tag >> Head::kRowsShift : 0;
    rows_.clear();
    unpack(start_.data(), event.row_count);
    if (closing) unpack(closing->bytes, event.pop_row_count);
    event.rows = rows_.data();
    event.pop_rows = rows_.data() + event.row_count;
    head.track->keep(event);
    if (budget_.exceeded()) head.track->spill();
    start_.clear();
  }

  // The two halves may be of different domains.
  void unpack(const uint8_t* half, uint32_t count) {
    Head head;
    std::memcpy(&head, half, sizeof(head));
    unpack_rows(half + sizeof(head), count, head.track->names(), rows_);
  }

  MemoryBudget& budget_;
  Summary& summary_;
  uint64_t id_ = 0;
  int64_t begin_ = 0;
  uint32_t tag_ = 0;
  std::vector<uint8_t> start_;  // empty: none is open
  std::vector<Row> rows_;
};

void RangeHalves::pair() {
  Pairing pairing(budget_, summary_);
  halves_.drain([&](const Record& record) { pairing.add(record); });
  pairing.leave_open();
  if (halves_.lost()) summary_.add(Count::kDroppedByError, halves_.lost());
}

}  // namespace nvtx_perfetto
