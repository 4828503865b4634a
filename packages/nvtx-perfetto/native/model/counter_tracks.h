// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "model/domain.h"
#include "model/event_track.h"
#include "payload/counter_fields.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto {

enum class NoValue : uint8_t { kZero = 0, kUnchanged = 1, kUnavailable = 2 };

// What tells a counter's tracks from those of other counters of its name below its parent:
// `where` is the number of the domain (below a scope) or of the stream that it is from.
inline uint64_t counter_owner(const Counter& counter, uint32_t where) {
  return TrackIds(counter.id ^ uint64_t{where} << 48).next();
}

// The tracks of one counter or counter group below one parent: a track a field. Samples
// are passed on in order, or kept, sorted, until flush().
class CounterTracks {
 public:
  // `owner` tells its tracks from those of others' counters of that name below that parent.
  CounterTracks(const Workshop& shop, PacketBuffer& out, const Counter& counter, uint64_t parent,
                uint32_t clock, uint64_t owner = 0);

  const Counter& counter() const { return counter_; }
  size_t sample_size() const { return counter_.sample_size; }

  void pass(int64_t time, const uint8_t* sample);
  // Samples `stride` bytes apart, at times that do not decrease.
  void pass_batch(const int64_t* times, size_t count, const uint8_t* samples, size_t stride);
  void pass_no_value(int64_t time, NoValue reason);
  void keep(int64_t time, const uint8_t* sample);
  void keep_no_value(int64_t time, NoValue reason);
  void flush();

  int64_t frontier() const { return frontier_; }
  // Whose samples are spilled, for whoever finds them.
  void set_stream(uint32_t number) { kept_.set_label({SpillKind::kSamples, number, counter_.id}); }
  size_t memory() const { return kept_.memory(); }
  bool spilled() const { return kept_.spilled(); }
  void spill() { kept_.spill(); }
  void spill_if_short() { kept_.spill_if_short(); }
  uint64_t lost() const { return kept_.lost(); }

 private:
  // What UNCHANGED repeats.
  struct LastValue {
    bool known = false;
    int64_t whole = 0;
    double real = 0;
  };
  struct Field {
    Field(PacketBuffer& out, uint64_t track, uint32_t clock) : packets(out, track, clock) {}
    TypeInfo type;
    size_t offset = 0;
    DeltaKind delta = DeltaKind::kAbsolute;
    bool plain = true;  // written as it is
    bool whole = true;  // an integer
    double factor = 1;  // of scales that no multiplier expresses, and of normalizing
    double least = -std::numeric_limits<double>::infinity();  // after the factor
    __int128 sum = 0;
    double float_sum = 0;
    LastValue last;
    PacketSequence packets;
  };

  void add_field(const CounterPlace& place);
  void write(Field& field, int64_t time, const uint8_t* sample);
  void write_whole(Field& field, int64_t time, int64_t value);
  void write_float(Field& field, int64_t time, double value);
  void write_no_value(Field& field, int64_t time, NoValue reason);
  template <typename T>
  void write_column(Field& field, const int64_t* times, size_t count, const uint8_t* at,
                    size_t stride);
  bool open_for_samples(size_t count);

  Workshop shop_;
  PacketBuffer& out_;
  const Counter& counter_;
  const uint64_t parent_;
  const uint32_t clock_;
  const uint64_t owner_;
  int64_t frontier_ = INT64_MIN;  // of all samples
  int64_t passed_ = INT64_MIN;    // of those that are written
  std::vector<std::unique_ptr<Field>> fields_;
  RunSorter kept_;
};

}  // namespace nvtx_perfetto
