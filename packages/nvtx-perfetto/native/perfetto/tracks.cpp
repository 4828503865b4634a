// SPDX-License-Identifier: Apache-2.0
#include "perfetto/tracks.h"

#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"
#include "perfetto/text.h"

namespace nvtx_perfetto {

using namespace field;

namespace {

constexpr uint32_t kExplicitOrder = 3;  // TrackDescriptor.ChildTracksOrdering.EXPLICIT

void add_text(ByteBuffer& out, uint32_t field, std::string_view text) {
  bool repaired = false;
  if (is_utf8(text)) {
    proto::add_bytes(out, field, text);
  } else {
    proto::add_bytes(out, field, repair_utf8(text, repaired));
  }
}

// A packet around one TrackDescriptor; the caller adds between construction and end.
class DescriptorPacket {
 public:
  DescriptorPacket(ByteBuffer& out, uint32_t sequence, uint64_t uuid) : out_(out) {
    packet_ = proto::open_message(out, kTrace_packet);
    proto::add_varint(out, kTracePacket_trusted_packet_sequence_id, sequence);
    track_ = proto::open_message(out, kTracePacket_track_descriptor);
    proto::add_varint(out, kTrackDescriptor_uuid, uuid);
  }
  ~DescriptorPacket() {
    proto::close_message(out_, track_);
    proto::close_message(out_, packet_);
  }
  DescriptorPacket(const DescriptorPacket&) = delete;
  DescriptorPacket& operator=(const DescriptorPacket&) = delete;

 private:
  ByteBuffer& out_;
  size_t packet_;
  size_t track_;
};

void add_common(ByteBuffer& out, const TrackDescription& track) {
  if (track.parent) proto::add_varint(out, kTrackDescriptor_parent_uuid, track.parent);
  add_text(out, kTrackDescriptor_name, track.name);
  if (!track.description.empty()) {
    add_text(out, kTrackDescriptor_description, track.description);
  }
  if (track.rank >= 0) {
    proto::add_varint(out, kTrackDescriptor_child_ordering, kExplicitOrder);
    proto::add_varint(out, kTrackDescriptor_sibling_order_rank, static_cast<uint64_t>(track.rank));
  }
}

}  // namespace

// SplitMix64 (Steele, Lea, Flood 2014): a bijection, so no id comes twice.
uint64_t TrackIds::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return z ? z : next();
}

void describe_track(ByteBuffer& out, uint32_t sequence, const TrackDescription& track) {
  DescriptorPacket packet(out, sequence, track.uuid);
  add_common(out, track);
}

void describe_counter(ByteBuffer& out, uint32_t sequence, const TrackDescription& track,
                      const CounterDescription& counter) {
  DescriptorPacket packet(out, sequence, track.uuid);
  add_common(out, track);
  size_t body = proto::open_message(out, kTrackDescriptor_counter);
  if (!counter.unit.empty()) add_text(out, kCounterDescriptor_unit_name, counter.unit);
  if (counter.multiplier != 1) {
    proto::add_varint(out, kCounterDescriptor_unit_multiplier,
                      static_cast<uint64_t>(counter.multiplier));
  }
  proto::close_message(out, body);
}

void describe_process(ByteBuffer& out, uint32_t sequence, uint64_t uuid, int32_t pid,
                      std::string_view name, std::string_view label, int64_t start) {
  DescriptorPacket packet(out, sequence, uuid);
  size_t body = proto::open_message(out, kTrackDescriptor_process);
  proto::add_varint(out, kProcessDescriptor_pid, static_cast<uint64_t>(pid));
  if (!name.empty()) add_text(out, kProcessDescriptor_process_name, name);
  if (start > 0) {
    proto::add_varint(out, kProcessDescriptor_start_timestamp_ns, static_cast<uint64_t>(start));
  }
  if (!label.empty()) add_text(out, kProcessDescriptor_process_labels, label);
  proto::close_message(out, body);
}

void describe_thread(ByteBuffer& out, uint32_t sequence, uint64_t uuid, int32_t pid, int64_t tid,
                     std::string_view name) {
  DescriptorPacket packet(out, sequence, uuid);
  size_t body = proto::open_message(out, kTrackDescriptor_thread);
  proto::add_varint(out, kThreadDescriptor_pid, static_cast<uint64_t>(pid));
  proto::add_varint(out, kThreadDescriptor_tid, static_cast<uint64_t>(tid));
  if (!name.empty()) add_text(out, kThreadDescriptor_thread_name, name);
  proto::close_message(out, body);
}

}  // namespace nvtx_perfetto
