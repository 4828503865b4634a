// SPDX-License-Identifier: Apache-2.0
// Counter samples: the shortest packets, and the most of them.
#include <algorithm>

#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto {
namespace {

using namespace field;
using proto::put_fixed64;
using proto::put_varint;

// No sample's packet is longer.
constexpr size_t kMaxPacket = 48;
// Samples encoded between two looks at the chunk's size.
constexpr size_t kBlock = 256;

struct Encoded {
  bool whole;
  uint64_t bits;
};

Encoded as_double(double value) {
  Encoded out{false, 0};
  std::memcpy(&out.bits, &value, sizeof(out.bits));
  return out;
}

Encoded encode(int64_t value) {
  // A negative varint takes ten bytes, a double eight; it is exact up to 2^53.
  if (value < 0 && value >= -(int64_t{1} << 53)) return as_double(static_cast<double>(value));
  return {true, static_cast<uint64_t>(value)};
}

Encoded encode(uint64_t value) {
  if (value > static_cast<uint64_t>(INT64_MAX)) return as_double(static_cast<double>(value));
  return {true, value};
}

Encoded encode(double value) {
  // Whole numbers are shorter as varints, and read back as the same double.
  constexpr double kLongestVarint = 1LL << 42;
  if (value >= 1 && value < kLongestVarint &&
      value == static_cast<double>(static_cast<int64_t>(value))) {
    return {true, static_cast<uint64_t>(value)};
  }
  return as_double(value);
}

// | 0A len | 40 time difference | 50 sequence id | 5A len | 48 04 | F0 01 varint |
//                                                      or E1 02 and eight bytes
inline uint8_t* put_sample(uint8_t* begin, uint64_t elapsed, uint32_t id, Encoded value) {
  uint8_t* at = begin;
  *at++ = proto::bytes_tag(kTrace_packet);
  ++at;
  *at++ = proto::varint_tag(kTracePacket_timestamp);
  at = put_varint(at, elapsed);
  *at++ = proto::varint_tag(kTracePacket_trusted_packet_sequence_id);
  at = put_varint(at, id);
  *at++ = proto::bytes_tag(kTracePacket_track_event);
  uint8_t* length = at++;
  *at++ = proto::varint_tag(kTrackEvent_type);
  *at++ = static_cast<uint8_t>(EventType::kCounter);
  if (value.whole) {
    at = put_varint(at, proto::varint_tag(kTrackEvent_counter_value));
    at = put_varint(at, value.bits);
  } else {
    at = put_varint(at, proto::fixed64_tag(kTrackEvent_double_counter_value));
    at = put_fixed64(at, value.bits);
  }
  *length = static_cast<uint8_t>(at - length - 1);
  begin[1] = static_cast<uint8_t>(at - begin - 2);
  return at;
}

}  // namespace

template <typename T>
void PacketSequence::one_counter(int64_t time, T value) {
  if (id_ == 0 || time < last_) start(time);
  ByteBuffer& out = bytes();
  uint8_t* at = out.reserve(kMaxPacket);
  out.commit_to(put_sample(at, static_cast<uint64_t>(time - last_), id_, encode(value)));
  last_ = time;
  out_.flush_if_full();
}

void PacketSequence::counter(int64_t time, int64_t value) { one_counter(time, value); }
void PacketSequence::counter(int64_t time, uint64_t value) { one_counter(time, value); }
void PacketSequence::counter(int64_t time, double value) { one_counter(time, value); }

template <typename T>
void PacketSequence::counters(const int64_t* times, size_t count, const uint8_t* values,
                              size_t stride) {
  if (count == 0) return;
  if (id_ == 0 || times[0] < last_) start(times[0]);
  ByteBuffer& out = bytes();
  int64_t last = last_;
  for (size_t done = 0; done < count;) {
    size_t until = std::min(count, done + kBlock);
    uint8_t* at = out.reserve(kBlock * kMaxPacket);
    for (; done < until; ++done, values += stride) {
      T value;
      std::memcpy(&value, values, sizeof(value));
      at = put_sample(at, static_cast<uint64_t>(times[done] - last), id_, encode(value));
      last = times[done];
    }
    out.commit_to(at);
    out_.flush_if_full();
  }
  last_ = last;
}

template void PacketSequence::counters<int64_t>(const int64_t*, size_t, const uint8_t*, size_t);
template void PacketSequence::counters<double>(const int64_t*, size_t, const uint8_t*, size_t);

}  // namespace nvtx_perfetto
