// SPDX-License-Identifier: Apache-2.0
// The protobuf wire format, as little of it as a trace needs.
//
//   field:   | tag = number << 3 | wire type | value |
//   message: | tag | length | fields ... |      (wire type 2, as text)
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "io/byte_buffer.h"

namespace nvtx_perfetto::proto {

constexpr size_t kMaxVarint = 10;

constexpr uint32_t varint_tag(uint32_t field) { return field << 3; }
constexpr uint32_t fixed64_tag(uint32_t field) { return field << 3 | 1; }
constexpr uint32_t bytes_tag(uint32_t field) { return field << 3 | 2; }

inline uint8_t* put_varint(uint8_t* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

inline size_t varint_size(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) value >>= 7, ++size;
  return size;
}

inline uint8_t* put_fixed64(uint8_t* at, uint64_t value) {
  std::memcpy(at, &value, sizeof(value));
  return at + sizeof(value);
}

inline void add_varint(ByteBuffer& out, uint32_t field, uint64_t value) {
  uint8_t* at = put_varint(out.reserve(2 * kMaxVarint), varint_tag(field));
  out.commit_to(put_varint(at, value));
}

inline void add_fixed64(ByteBuffer& out, uint32_t field, uint64_t value) {
  uint8_t* at = put_varint(out.reserve(kMaxVarint + 8), fixed64_tag(field));
  out.commit_to(put_fixed64(at, value));
}

inline void add_double(ByteBuffer& out, uint32_t field, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  add_fixed64(out, field, bits);
}

inline void add_bytes(ByteBuffer& out, uint32_t field, std::string_view bytes) {
  uint8_t* at = put_varint(out.reserve(2 * kMaxVarint + bytes.size()), bytes_tag(field));
  at = put_varint(at, bytes.size());
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  out.commit_to(at + bytes.size());
}

// Opens a nested message whose length is filled in by close_message. One byte is held
// for it; longer messages, which are rare, are moved up when they close.
inline size_t open_message(ByteBuffer& out, uint32_t field) {
  uint8_t* at = put_varint(out.reserve(kMaxVarint + 1), bytes_tag(field));
  *at = 0;
  out.commit_to(at + 1);
  return out.size();
}

inline void close_message(ByteBuffer& out, size_t body) {
  size_t length = out.size() - body;
  if (length < 0x80) {
    out.data()[body - 1] = static_cast<uint8_t>(length);
    return;
  }
  size_t extra = varint_size(length) - 1;
  out.reserve(extra);
  std::memmove(out.data() + body + extra, out.data() + body, length);
  put_varint(out.data() + body - 1, length);
  out.commit(extra);
}

}  // namespace nvtx_perfetto::proto
