// SPDX-License-Identifier: Apache-2.0
// What the model's parts share in a session, with a sink in memory.
#pragma once

#include "check.h"
#include "model/domain.h"
#include "model/event_track.h"
#include "packets.h"
#include "schemas.h"

namespace stage {

constexpr uint32_t kClock = nvtx_perfetto::kRealtime;

struct Stage {
  packets::MemorySink sink;
  nvtx_perfetto::SequenceIds ids{2};
  nvtx_perfetto::PacketBuffer out{sink, ids};
  nvtx_perfetto::MemoryBudget budget{64 << 10};
  nvtx_perfetto::SpillFile spill{check::folder()};
  nvtx_perfetto::Summary summary;
  nvtx_perfetto::TrackTree tracks{sink, 1, 42, "session"};
  nvtx_perfetto::FlowTable flows{budget, spill, summary};
  nvtx_perfetto::Domain domain{"dom"};
  nvtx_perfetto::EventEmitter emitter{domain, summary, flows};

  nvtx_perfetto::Workshop shop() { return {tracks, summary, budget, spill, flows}; }
  packets::Trace trace() {
    tracks.flush();
    out.flush();
    return sink.trace();
  }
};

// A schema of a domain, as that of rows that are packed must be.
inline const nvtx_perfetto::Schema& registered(nvtx_perfetto::Domain& domain,
                                               const std::vector<schemas::Entry>& entries) {
  std::string problem;
  uint64_t id = domain.add_schema(schemas::Types().build(entries).schema, 0, problem);
  return *domain.find_schema(id);
}

// Ranges and instants whose name is a number, given as a row of one text.
class Events {
 public:
  explicit Events(nvtx_perfetto::Domain& domain)
      : schema_(registered(domain, {schemas::entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "m",
                                                   NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE |
                                                       NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
                                                   8)})) {}

  nvtx_perfetto::Row row(const std::string& name) {
    std::string& held = *names_.emplace_back(std::make_unique<std::string>(name));
    held.resize(8);
    return {&schema_, reinterpret_cast<const uint8_t*>(held.data()), 8};
  }
  nvtx_perfetto::Event event(int64_t begin, int64_t end, nvtx_perfetto::Shape shape,
                             const std::string& name) {
    rows_.push_back(std::make_unique<nvtx_perfetto::Row>(row(name)));
    nvtx_perfetto::Event out;
    out.begin = begin;
    out.end = end;
    out.shape = shape;
    out.rows = rows_.back().get();
    out.row_count = 1;
    return out;
  }

 private:
  const nvtx_perfetto::Schema& schema_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<std::unique_ptr<nvtx_perfetto::Row>> rows_;
};

// A slice as the engine pairs it: unnamed ends close the top of their track.
struct Slice {
  int64_t begin;
  int64_t end;  // -1: never
  uint64_t track;
  std::string name;
  std::string parent;
  bool operator==(const Slice& other) const {
    return begin == other.begin && end == other.end && name == other.name && parent == other.parent;
  }
};
std::map<std::string, Slice> slices(const packets::Trace& trace);

}  // namespace stage
