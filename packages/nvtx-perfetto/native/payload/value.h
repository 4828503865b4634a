// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nvtx_perfetto {

// What the bytes of one element are, whatever NVTX type number named it.
enum class ValueKind : uint8_t {
  kInvalid,
  kSigned,
  kUnsigned,
  kFloat,       // 2, 4, 8 bytes (IEEE 754)
  kBrainFloat,  // bfloat16
  kLongDouble,  // the platform's
  kQuad,        // IEEE 754 binary128
  kWide,        // 128-bit signed integer
  kUnsignedWide,
  kCharacter,  // one code unit, shown as text
  kByte,       // raw bytes: text when printable, else hexadecimal
  kAddress,
  kText,  // code units of 1, 2 or 4 bytes, UTF-8/16/32
  kStringHandle,
  kSchema,
};

struct TypeInfo {
  ValueKind kind = ValueKind::kInvalid;
  uint8_t size = 0;  // bytes of one element or one code unit
  uint8_t align = 1;
};

// Sizes and kinds of NVTX's predefined entry types on this platform; kInvalid for
// numbers that are none.
TypeInfo predefined_type(uint64_t type);

bool is_integer(ValueKind kind);
bool is_number(ValueKind kind);
// Numbers and 128-bit values, which a counter may hold.
bool is_countable(ValueKind kind);

// The bytes at `at` need no alignment. Integers of any width; unsigned values keep
// their bits.
int64_t load_integer(const TypeInfo& type, const uint8_t* at);
double load_number(const TypeInfo& type, const uint8_t* at);
// A countable value as a double; says whether it had to be rounded.
double load_countable(const TypeInfo& type, const uint8_t* at, bool& rounded);
// 128-bit and extended values, as text that loses nothing.
std::string wide_text(const TypeInfo& type, const uint8_t* at);

}  // namespace nvtx_perfetto
