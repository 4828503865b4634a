// SPDX-License-Identifier: Apache-2.0
#include "live/wire_reader.h"

#include <cstring>

namespace nvtx_perfetto::live {

bool WireReader::read_varint(std::string_view& from, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < from.size() && i < 10; ++i) {
    auto byte = static_cast<uint8_t>(from[i]);
    value |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      from.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool WireReader::next(WireField& field) {
  std::string_view at = left_;
  uint64_t tag;
  if (!read_varint(at, tag) || tag >> 3 == 0 || tag >> 35 != 0) return false;
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<uint32_t>(tag & 7);
  field.bytes = {};
  field.value = 0;
  size_t size = 0;
  switch (field.type) {
    case 0:
      if (!read_varint(at, field.value)) return false;
      break;
    case 2: {
      uint64_t length;
      if (!read_varint(at, length) || length > at.size()) return false;
      size = length;
      field.bytes = at.substr(0, size);
      break;
    }
    case 1: size = 8; break;
    case 5: size = 4; break;
    default: return false;
  }
  if (size > at.size()) return false;
  if (field.type == 1 || field.type == 5) std::memcpy(&field.value, at.data(), size);
  at.remove_prefix(size);
  field.whole = left_.substr(0, left_.size() - at.size());
  left_ = at;
  return true;
}

}  // namespace nvtx_perfetto::live
