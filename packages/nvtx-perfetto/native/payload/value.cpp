// SPDX-License-Identifier: Apache-2.0
#include "payload/value.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <limits>

namespace nvtx_perfetto {
namespace {

template <typename T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <typename T>
constexpr TypeInfo plain(ValueKind kind) {
  return {kind, sizeof(T), alignof(T)};
}

constexpr ValueKind kCharKind = ValueKind::kCharacter;

double half_to_double(uint16_t bits) {
  int exponent = bits >> 10 & 0x1F;
  double mantissa = bits & 0x3FF;
  double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                     : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                      : std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

std::string unsigned_wide_text(unsigned __int128 value) {
  char digits[40];
  size_t at = sizeof(digits);
  do {
    digits[--at] = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  return std::string(digits + at, sizeof(digits) - at);
}

// binary128: a sign, 15 bits of exponent (biased by 16383) and 112 of fraction. Cut, not rounded
// to nearest, to the 53 bits of a double.
double quad_to_double(const uint8_t* at, bool& rounded) {
  uint64_t low = load<uint64_t>(at);
  uint64_t high = load<uint64_t>(at + 8);
  int exponent = static_cast<int>(high >> 48 & 0x7FFF);
  uint64_t fraction = (high & 0xFFFFFFFFFFFFu) << 4 | low >> 60;
  double sign = high >> 63 ? -1 : 1;
  if (exponent == 0x7FFF) {
    return sign * (fraction || low ? std::numeric_limits<double>::quiet_NaN()
                                   : std::numeric_limits<double>::infinity());
  }
  double whole = static_cast<double>((exponent ? uint64_t{1} << 52 : 0) | fraction);
  double value = std::ldexp(whole, std::max(exponent, 1) - 16383 - 52);
  rounded = low << 4 != 0 || std::ldexp(value, 16383 + 52 - std::max(exponent, 1)) != whole;
  return sign * value;
}

// binary128 as C99 hexadecimal, which is exact whatever the platform's long double.
std::string quad_text(const uint8_t* at) {
  uint64_t low = load<uint64_t>(at);
  uint64_t high = load<uint64_t>(at + 8);
  int exponent = static_cast<int>(high >> 48 & 0x7FFF);
  uint64_t top = high & 0xFFFFFFFFFFFFu;
  const char* sign = high >> 63 ? "-" : "";
  if (exponent == 0x7FFF) return std::string(sign) + ((top | low) ? "nan" : "inf");
  if (exponent == 0 && (top | low) == 0) return std::string(sign) + "0";
  char text[64];
  std::snprintf(text, sizeof(text), "%s0x%d.%012llx%016llxp%+d", sign, exponent != 0,
                static_cast<unsigned long long>(top), static_cast<unsigned long long>(low),
                (exponent ? exponent : 1) - 16383);
  return text;
}

TypeInfo basic_type(uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR: return plain<char>(kCharKind);
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR: return plain<unsigned char>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT: return plain<short>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT: return plain<unsigned short>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_INT: return plain<int>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT: return plain<unsigned>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG: return plain<long>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG: return plain<unsigned long>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG: return plain<long long>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG: return plain<unsigned long long>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8: return plain<int8_t>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8: return plain<uint8_t>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16: return plain<int16_t>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16: return plain<uint16_t>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32: return plain<int32_t>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32: return plain<uint32_t>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64: return plain<int64_t>(ValueKind::kSigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64: return plain<uint64_t>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT: return plain<float>(ValueKind::kFloat);
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE: return plain<double>(ValueKind::kFloat);
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE: return plain<long double>(ValueKind::kLongDouble);
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE: return plain<size_t>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS: return plain<void*>(ValueKind::kAddress);
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR: return plain<wchar_t>(kCharKind);
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8: return plain<uint8_t>(kCharKind);
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16: return plain<uint16_t>(kCharKind);
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32: return plain<uint32_t>(kCharKind);
    default: return {};
  }
}

}  // namespace

TypeInfo predefined_type(uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE: return plain<uint8_t>(ValueKind::kByte);
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128: return {ValueKind::kWide, 16, 16};
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128: return {ValueKind::kUnsignedWide, 16, 16};
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16: return {ValueKind::kFloat, 2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32: return plain<float>(ValueKind::kFloat);
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64: return plain<double>(ValueKind::kFloat);
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128: return {ValueKind::kQuad, 16, 16};
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16: return {ValueKind::kBrainFloat, 2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32: return plain<uint32_t>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64: return plain<uint64_t>(ValueKind::kUnsigned);
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8: return {ValueKind::kText, 1, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16: return {ValueKind::kText, 2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32: return {ValueKind::kText, 4, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      return plain<void*>(ValueKind::kStringHandle);
    default: return basic_type(type);
  }
}

bool is_integer(ValueKind kind) {
  return kind == ValueKind::kSigned || kind == ValueKind::kUnsigned ||
         kind == ValueKind::kCharacter || kind == ValueKind::kByte || kind == ValueKind::kAddress ||
         kind == ValueKind::kStringHandle;
}

bool is_number(ValueKind kind) {
  return is_integer(kind) || kind == ValueKind::kFloat || kind == ValueKind::kBrainFloat ||
         kind == ValueKind::kLongDouble;
}

bool is_countable(ValueKind kind) {
  return is_number(kind) || kind == ValueKind::kQuad || kind == ValueKind::kWide ||
         kind == ValueKind::kUnsignedWide;
}

int64_t load_integer(const TypeInfo& type, const uint8_t* at) {
  bool sign = type.kind == ValueKind::kSigned;
  switch (type.size) {
    case 1: return sign ? int64_t{load<int8_t>(at)} : int64_t{load<uint8_t>(at)};
    case 2: return sign ? int64_t{load<int16_t>(at)} : int64_t{load<uint16_t>(at)};
    case 4: return sign ? int64_t{load<int32_t>(at)} : int64_t{load<uint32_t>(at)};
    case 8: return load<int64_t>(at);
    default: return 0;
  }
}

double load_number(const TypeInfo& type, const uint8_t* at) {
  switch (type.kind) {
    case ValueKind::kFloat:
      if (type.size == 8) return load<double>(at);
      if (type.size == 4) return double{load<float>(at)};
      return half_to_double(load<uint16_t>(at));
    case ValueKind::kBrainFloat: {
      uint32_t bits = uint32_t{load<uint16_t>(at)} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return double{value};
    }
    case ValueKind::kLongDouble: return static_cast<double>(load<long double>(at));
    case ValueKind::kSigned: return static_cast<double>(load_integer(type, at));
    default: return static_cast<double>(static_cast<uint64_t>(load_integer(type, at)));
  }
}

double load_countable(const TypeInfo& type, const uint8_t* at, bool& rounded) {
  // Beyond 2^63 a conversion back would overflow; what a double drops is what counts.
  auto of_magnitude = [&](unsigned __int128 magnitude) {
    int bits = 128;
    while (bits > 0 && magnitude >> (bits - 1) == 0) --bits;
    rounded = bits > 53 && magnitude << (128 - bits + 53) != 0;
    return static_cast<double>(magnitude);
  };
  switch (type.kind) {
    case ValueKind::kUnsignedWide: return of_magnitude(load<unsigned __int128>(at));
    case ValueKind::kWide: {
      auto value = load<__int128>(at);
      auto magnitude = static_cast<unsigned __int128>(value);
      return value < 0 ? -of_magnitude(-magnitude) : of_magnitude(magnitude);
    }
    case ValueKind::kQuad: return quad_to_double(at, rounded);
    default: return load_number(type, at);
  }
}

std::string wide_text(const TypeInfo& type, const uint8_t* at) {
  switch (type.kind) {
    case ValueKind::kUnsignedWide: return unsigned_wide_text(load<unsigned __int128>(at));
    case ValueKind::kWide: {
      auto value = load<__int128>(at);
      auto magnitude = static_cast<unsigned __int128>(value);
      return value < 0 ? "-" + unsigned_wide_text(-magnitude) : unsigned_wide_text(magnitude);
    }
    case ValueKind::kQuad: return quad_text(at);
    default: {
      char text[64];
      std::snprintf(text, sizeof(text), "%.*Lg", 21, load<long double>(at));
      return text;
    }
  }
}

}  // namespace nvtx_perfetto
