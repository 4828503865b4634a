// SPDX-License-Identifier: Apache-2.0
#include "perfetto/sequence.h"

#include <cmath>

#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"
#include "perfetto/text.h"

namespace nvtx_perfetto {
namespace {

using namespace field;
using proto::bytes_tag;
using proto::fixed64_tag;
using proto::put_fixed64;
using proto::put_varint;
using proto::varint_tag;

// Clock ids 64 to 127 belong to the sequence that defines them.
constexpr uint32_t kSequenceClock = 64;
constexpr uint32_t kIncrementalStateCleared = 1;
constexpr size_t kSmallPacket = 96;

}  // namespace

// The head of every packet but the first two of a sequence:
//
//   | 0A len | 40 time difference | 50 sequence id | ...
uint8_t* PacketSequence::put_header(uint8_t* at, int64_t time) {
  *at++ = bytes_tag(kTrace_packet);
  *at++ = 0;
  *at++ = varint_tag(kTracePacket_timestamp);
  at = put_varint(at, static_cast<uint64_t>(time - last_));
  last_ = time;
  *at++ = varint_tag(kTracePacket_trusted_packet_sequence_id);
  return put_varint(at, id_);
}

void PacketSequence::start(int64_t time) {
  ByteBuffer& out = bytes();
  id_ = out_.ids().next();
  clear_state();
  size_t packet = proto::open_message(out, kTrace_packet);
  proto::add_varint(out, kTracePacket_trusted_packet_sequence_id, id_);
  size_t snapshot = proto::open_message(out, kTracePacket_clock_snapshot);
  for (uint32_t clock : {kSequenceClock, clock_}) {
    size_t entry = proto::open_message(out, kClockSnapshot_clocks);
    proto::add_varint(out, kClock_clock_id, clock);
    proto::add_varint(out, kClock_timestamp, static_cast<uint64_t>(time));
    if (clock == kSequenceClock) proto::add_varint(out, kClock_is_incremental, 1);
    proto::close_message(out, entry);
  }
  proto::close_message(out, snapshot);
  proto::close_message(out, packet);
  last_ = time;
}

void PacketSequence::clear_state() {
  ByteBuffer& out = bytes();
  names_.clear();
  categories_.clear();
  annotation_names_.clear();
  string_values_.clear();
  texts_.clear();
  next_iid_ = 1;
  interned_bytes_ = 0;
  size_t packet = proto::open_message(out, kTrace_packet);
  proto::add_varint(out, kTracePacket_trusted_packet_sequence_id, id_);
  proto::add_varint(out, kTracePacket_sequence_flags, kIncrementalStateCleared);
  size_t defaults = proto::open_message(out, kTracePacket_trace_packet_defaults);
  proto::add_varint(out, kTracePacketDefaults_timestamp_clock_id, kSequenceClock);
  size_t events = proto::open_message(out, kTracePacketDefaults_track_event_defaults);
  proto::add_varint(out, kTrackEventDefaults_track_uuid, track_);
  proto::close_message(out, events);
  proto::close_message(out, defaults);
  proto::close_message(out, packet);
}

void PacketSequence::plain_event(EventType type, int64_t time, uint32_t domain, uint32_t category,
                                 uint32_t name) {
  if (!interned_.empty()) {
    open_prepared(type, time);
    if (domain) add_category(domain);
    if (category) add_category(category);
    if (name) add_name(name);
    close();
    return;
  }
  ByteBuffer& out = bytes();
  uint8_t* begin = out.reserve(kSmallPacket);
  uint8_t* at = put_header(begin, time);
  *at++ = bytes_tag(kTracePacket_track_event);
  uint8_t* length = at++;
  *at++ = varint_tag(kTrackEvent_type);
  *at++ = static_cast<uint8_t>(type);
  for (uint32_t iid : {domain, category}) {
    if (iid == 0) continue;
    *at++ = varint_tag(kTrackEvent_category_iids);
    at = put_varint(at, iid);
  }
  if (name) {
    *at++ = varint_tag(kTrackEvent_name_iid);
    at = put_varint(at, name);
  }
  *length = static_cast<uint8_t>(at - length - 1);
  begin[1] = static_cast<uint8_t>(at - begin - 2);
  out.commit_to(at);
  out_.flush_if_full();
}

void PacketSequence::open(EventType type, int64_t time) {
  prepare(time);
  open_prepared(type, time);
}

void PacketSequence::open_prepared(EventType type, int64_t time) {
  ByteBuffer& out = bytes();
  uint8_t* at = out.reserve(kSmallPacket);
  packet_ = out.size() + 2;
  at = put_header(at, time);
  *at++ = bytes_tag(kTracePacket_track_event);
  *at++ = 0;
  out.commit_to(at);
  event_ = out.size();
  *at++ = varint_tag(kTrackEvent_type);
  *at++ = static_cast<uint8_t>(type);
  out.commit_to(at);
}

void PacketSequence::add_category(uint32_t iid) {
  proto::add_varint(bytes(), kTrackEvent_category_iids, iid);
}

void PacketSequence::add_name(uint32_t iid) {
  proto::add_varint(bytes(), kTrackEvent_name_iid, iid);
}

void PacketSequence::add_flow(uint64_t id) {
  proto::add_fixed64(bytes(), kTrackEvent_flow_ids, id);
}

void PacketSequence::close() {
  ByteBuffer& out = bytes();
  proto::close_message(out, event_);
  if (!interned_.empty()) {
    proto::add_bytes(out, kTracePacket_interned_data, interned_.view());
    interned_.clear();
  }
  proto::close_message(out, packet_);
  packet_ = 0;
  out_.flush_if_full();
}

void PacketSequence::abandon() {
  if (packet_ != 0) bytes().truncate(packet_ - 2);
  packet_ = 0;
  interned_.clear();
  id_ = 0;
}

void PacketSequence::end_slice(int64_t time) {
  if (id_ == 0 || time < last_) start(time);
  ByteBuffer& out = bytes();
  uint8_t* begin = out.reserve(kSmallPacket);
  uint8_t* at = put_header(begin, time);
  *at++ = bytes_tag(kTracePacket_track_event);
  *at++ = 2;
  *at++ = varint_tag(kTrackEvent_type);
  *at++ = static_cast<uint8_t>(EventType::kSliceEnd);
  begin[1] = static_cast<uint8_t>(at - begin - 2);
  out.commit_to(at);
  out_.flush_if_full();
}

uint32_t PacketSequence::intern(Table table, FlatMap& map, uint64_t key, std::string_view text) {
  uint32_t iid = add_interned(table, text);
  map.insert(key, iid);
  return iid;
}

uint32_t PacketSequence::name_of_text(std::string_view text) {
  std::string key(text);
  auto found = texts_.find(key);
  if (found != texts_.end()) return found->second;
  uint32_t iid = add_interned(kNames, text);
  texts_.emplace(std::move(key), iid);
  return iid;
}

// InternedData: | table | len | 08 iid | 12 len text |
uint32_t PacketSequence::add_interned(Table table, std::string_view text) {
  constexpr uint32_t kFields[] = {kInternedData_event_names, kInternedData_event_categories,
                                  kInternedData_debug_annotation_names,
                                  kInternedData_debug_annotation_string_values};
  bool repaired = false;
  std::string repair;
  if (!is_utf8(text)) {
    repair = repair_utf8(text, repaired);
    text = repair;
    ++repaired_texts_;
  }
  uint32_t iid = next_iid_++;
  interned_bytes_ += text.size() + 64;
  size_t entry = proto::open_message(interned_, kFields[table]);
  proto::add_varint(interned_, kEventName_iid, iid);
  proto::add_bytes(interned_, kEventName_name, text);
  proto::close_message(interned_, entry);
  return iid;
}

}  // namespace nvtx_perfetto
