// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nvtx_perfetto {

// True when the bytes are well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view bytes);

// The text with every ill-formed sequence replaced by U+FFFD, as Unicode 15 chapter 3.9 advises:
// one replacement for each maximal part of a well-formed sequence. Sets `repaired`
// when anything was replaced and leaves it alone otherwise.
std::string repair_utf8(std::string_view bytes, bool& repaired);

void append_code_point(std::string& out, uint32_t code_point);

// UTF-16 and UTF-32 code units in native byte order, up to `count` units or the first
// zero; lone surrogates and values above U+10FFFF become U+FFFD.
std::string from_utf16(const void* units, size_t count, bool& repaired);
std::string from_utf32(const void* units, size_t count, bool& repaired);

// `#AARRGGBB`.
std::string color_text(uint32_t argb);

}  // namespace nvtx_perfetto
