// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "live/catalog.h"
#include "live/layout.h"
#include "live/record.h"
#include "live/scope_tracks.h"
#include "live/timeline.h"
#include "live/track_uuids.h"
#include "perfetto/packet_buffer.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto::live {

// Gathers the samples of one drain, puts them in the order of their times, and writes a track a
// field.
class CounterWriter {
 public:
  struct Parts {
    LiveFile& file;
    const Catalog& catalog;
    Timeline& timeline;
    ScopeTracks& scopes;
    PacketBuffer& out;
    uint32_t sequence;  // of descriptors
  };
  explicit CounterWriter(const Parts& parts);

  // Whether a record's times cannot be told before the recording ends.
  bool waits(const RecordView& record) const;

  // One record of any counter kind. The record must stay until write().
  void add(const RecordView& record, int64_t realtime);
  void write();

  // The running values, into the pair's half that is about to count.
  void save(uint32_t half);
  // Back to what the file says counts.
  void forget();

  uint64_t samples = 0;
  uint64_t bad_ids = 0;
  uint64_t dropped = 0;
  uint64_t untied = 0;
  uint64_t rounded = 0;

 private:
  enum class Kind : uint8_t { kBytes, kInteger, kDouble, kNone };
  struct Sample {
    int64_t time;
    const LiveCounter* counter;
    const uint8_t* data;
    uint64_t bits;
    uint32_t domain;
    Kind kind;
  };
  struct Track {
    std::unique_ptr<PacketSequence> packets;
  };

  void add_batch(const RecordView& record, const LiveCounter& counter, int64_t realtime);
  uint64_t time_domain_of(uint32_t domain, const LiveCounter& counter) const;
  bool place(uint32_t domain, const LiveCounter& counter, int64_t ticks, int64_t& realtime);
  bool place_row(uint32_t domain, const LiveCounter& counter, const Row& row, int64_t& realtime);
  void write_sample(const Sample& sample);
  void write_field(const Sample& sample, const CounterField& field);
  void write_none(PacketSequence& out, const Sample& sample, const CounterField& field);
  void write_value(PacketSequence& out, int64_t time, const CounterField& field);
  PacketSequence& track(const Sample& sample, const CounterField& field);
  uint64_t scope_track(const LiveDomain& domain, uint64_t scope);

  LiveFile& file_;
  const Catalog& catalog_;
  Timeline& timeline_;
  ScopeTracks& scopes_;
  PacketBuffer& out_;
  const uint32_t sequence_;
  const TrackUuids uuids_;
  std::vector<Sample> samples_;
  std::vector<CounterState::Value> values_;
  std::vector<Track> tracks_;
};

}  // namespace nvtx_perfetto::live
