// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "live/catalog.h"
#include "live/part_file.h"
#include "live/scope_tracks.h"
#include "live/spool.h"
#include "live/timeline.h"
#include "model/event_roles.h"
#include "model/event_track.h"
#include "model/flow_table.h"
#include "model/range_halves.h"

namespace nvtx_perfetto::live {

// Events that came with times of their own, at the end of the recording: placed on the time
// line, sorted, paired and written as those of a writer session are, each NVTX domain
// on a track of its own in every scope.
class DeferredEvents {
 public:
  struct Parts {
    const Catalog& catalog;
    Timeline& timeline;
    ScopeTracks& scopes;
    PartFile& part;
    SequenceIds& ids;
    uint32_t sequence;  // of descriptors
    uint64_t seed;      // of lane tracks' ids
  };
  explicit DeferredEvents(const Parts& parts);
  ~DeferredEvents();

  // One record of events. It must stay until finish().
  void add(const Origin& origin, const RecordView& record);
  void finish();

  Summary& summary() { return summary_; }

 private:
  static constexpr uint32_t kMostRows = 16;
  class Names;
  struct DomainEvents;
  struct Track {
    std::unique_ptr<EventTrack> events;
    uint32_t number;
  };
  // What is said of several events at once.
  struct Batch {
    DomainEvents* domain;
    const Origin* origin;
    uint32_t domain_index;
    uint64_t scope;
  };

  void add_payloads(const Batch& batch, const RecordView& record);
  void add_rows(Batch batch, const RecordView& record);
  void check_order(const Row& first, size_t count);
  void add_event(const Batch& batch, const Row* rows, uint32_t count);
  void keep(const EventRoles& roles, Event event, Track& track);
  bool load_time(const Batch& batch, const Row& row, int entry, uint64_t scope, int64_t& time);
  uint64_t scope_of(const Batch& batch, const Row* rows, uint32_t count) const;
  uint64_t parent_of(const Batch& batch, const Row* rows, uint32_t count, uint64_t scope);
  uint64_t scope_track(const Batch& batch, uint64_t scope);
  DomainEvents& domain(uint32_t index);
  Track& track(DomainEvents& domain, uint64_t parent);
  void relieve();

  const Parts parts_;
  Summary summary_;
  MemoryBudget budget_;
  SpillFile spill_;
  FlowTable flows_;
  TrackTree tracks_;
  PacketBuffer out_;
  RangeHalves range_halves_;
  std::map<uint32_t, std::unique_ptr<DomainEvents>> domains_;
  std::vector<EventTrack*> all_tracks_;
};

}  // namespace nvtx_perfetto::live
