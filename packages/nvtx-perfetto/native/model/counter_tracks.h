// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "model/domain.h"
#include "model/event_track.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto {

enum class NoValue : uint8_t { kZero = 0, kUnchanged = 1, kUnavailable = 2 };

// The tracks of one counter or counter group below one parent: a track a field. Samples
// are passed on in order, or kept, sorted, until flush().
class CounterTracks {
 public:
  CounterTracks(const Workshop& shop, PacketBuffer& out, const Counter& counter, uint64_t parent,
                uint32_t clock);

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
  size_t memory() const { return kept_.memory(); }
  void spill() { kept_.spill(); }
  uint64_t lost() const { return kept_.lost(); }

 private:
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
    bool has_last = false;
    int64_t last = 0;
    double float_last = 0;
    PacketSequence packets;
  };

  void add_fields(const Schema& schema, size_t base, const std::string& prefix);
  void add_field(const SchemaEntry& entry, size_t offset, const std::string& name);
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
  int64_t frontier_ = INT64_MIN;
  std::vector<std::unique_ptr<Field>> fields_;
  RunSorter kept_;
};

}  // namespace nvtx_perfetto
