// SPDX-License-Identifier: Apache-2.0
#include "perfetto/text.h"

#include <cstdio>
#include <cstring>

namespace nvtx_perfetto {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

// How many bytes from `at` form a well-formed sequence; otherwise the negated length
// of the part to replace (Unicode 15, table 3-7).
int sequence_length(const uint8_t* at, size_t left) {
  uint8_t lead = at[0];
  if (lead < 0x80) return 1;
  int want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (int i = 1; i < want; ++i) {
    if (static_cast<size_t>(i) >= left || at[i] < low || at[i] > high) return -i;
    low = 0x80;
    high = 0xBF;
  }
  return want;
}

bool all_ascii(const uint8_t* at, size_t left) {
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    if (word & 0x8080808080808080u) return false;
  }
  for (; left > 0; ++at, --left) {
    if (*at & 0x80) return false;
  }
  return true;
}

template <typename Unit>
Unit unit_at(const void* units, size_t index) {
  Unit unit;
  std::memcpy(&unit, static_cast<const char*>(units) + index * sizeof(Unit), sizeof(Unit));
  return unit;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  if (all_ascii(at, bytes.size())) return true;
  for (size_t i = 0; i < bytes.size();) {
    int length = sequence_length(at + i, bytes.size() - i);
    if (length < 0) return false;
    i += static_cast<size_t>(length);
  }
  return true;
}

std::string repair_utf8(std::string_view bytes, bool& repaired) {
  if (is_utf8(bytes)) return std::string(bytes);
  repaired = true;
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  std::string out;
  out.reserve(bytes.size() + 8);
  for (size_t i = 0; i < bytes.size();) {
    int length = sequence_length(at + i, bytes.size() - i);
    if (length > 0) {
      out.append(bytes.substr(i, static_cast<size_t>(length)));
    } else {
      append_code_point(out, kReplacement);
      length = -length;
    }
    i += static_cast<size_t>(length);
  }
  return out;
}

void append_code_point(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | point >> 12);
    out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | point >> 18);
    out += static_cast<char>(0x80 | (point >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  }
}

std::string from_utf16(const void* units, size_t count, bool& repaired) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    uint32_t unit = unit_at<uint16_t>(units, i);
    if (unit == 0) break;
    if (unit >= 0xD800 && unit < 0xDC00 && i + 1 < count) {
      uint32_t low = unit_at<uint16_t>(units, i + 1);
      if (low >= 0xDC00 && low < 0xE000) {
        append_code_point(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        ++i;
        continue;
      }
    }
    bool lone = unit >= 0xD800 && unit < 0xE000;
    repaired |= lone;
    append_code_point(out, lone ? kReplacement : unit);
  }
  return out;
}

std::string from_utf32(const void* units, size_t count, bool& repaired) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    uint32_t unit = unit_at<uint32_t>(units, i);
    if (unit == 0) break;
    bool bad = unit > 0x10FFFF || (unit >= 0xD800 && unit < 0xE000);
    repaired |= bad;
    append_code_point(out, bad ? kReplacement : unit);
  }
  return out;
}

std::string color_text(uint32_t argb) {
  char text[16];
  std::snprintf(text, sizeof(text), "#%08X", argb);
  return text;
}

}  // namespace nvtx_perfetto
