// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nvtx_perfetto::live {

// One field of a protobuf message.
struct WireField {
  uint32_t number = 0;
  uint32_t type = 0;       // 0 varint, 1 fixed64, 2 bytes, 5 fixed32
  uint64_t value = 0;      // of a number
  std::string_view bytes;  // of a message or text
  std::string_view whole;  // with its tag
};

// Walks over the fields of a message; ends before the first that is not whole.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : left_(message) {}
  bool next(WireField& field);
  // False when what is left is no field.
  bool at_end() const { return left_.empty(); }
  std::string_view left() const { return left_; }

 private:
  static bool read_varint(std::string_view& from, uint64_t& value);
  std::string_view left_;
};

}  // namespace nvtx_perfetto::live
