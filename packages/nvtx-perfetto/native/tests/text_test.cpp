// SPDX-License-Identifier: Apache-2.0
#include "perfetto/text.h"

#include <vector>

#include "check.h"

using namespace nvtx_perfetto;

namespace {

const std::string kMark = "\xEF\xBF\xBD";

std::string repaired(const std::string& text, bool expected) {
  bool changed = false;
  std::string out = repair_utf8(text, changed);
  CHECK_EQ(changed, expected);
  CHECK_EQ(is_utf8(text), !expected);
  CHECK(is_utf8(out));
  return out;
}

}  // namespace

TEST("text: well-formed UTF-8 of every length stays as it is") {
  for (const char* text :
       {"", "plain", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "eight by\xC3\xBCtes and more"}) {
    CHECK_EQ(repaired(text, false), text);
  }
}

TEST("text: each maximal ill-formed part becomes one replacement") {
  CHECK_EQ(repaired("a\x80z", true), "a" + kMark + "z");
  CHECK_EQ(repaired("\xC0\xAF", true), kMark + kMark);
  CHECK_EQ(repaired("\xE0\x9F\x80", true), kMark + kMark + kMark);
  CHECK_EQ(repaired("\xED\xA0\x80", true), kMark + kMark + kMark);
  CHECK_EQ(repaired("\xF0\x8F\xBF\xBF", true), kMark + kMark + kMark + kMark);
  CHECK_EQ(repaired("\xF4\x90\x80\x80", true), kMark + kMark + kMark + kMark);
  CHECK_EQ(repaired("\xF5", true), kMark);
  CHECK_EQ(repaired("\xE2\x82", true), kMark);
  CHECK_EQ(repaired("\xF0\x9F\x98", true), kMark);
  CHECK_EQ(repaired("\xE2\x82"
                    "a",
                    true),
           kMark + "a");
  CHECK_EQ(repaired("\xFF\xFE", true), kMark + kMark);
}

TEST("text: UTF-16 pairs join, lone halves are replaced, the first zero ends it") {
  bool changed = false;
  std::vector<uint16_t> good = {'a', 0xE9, 0x20AC, 0xD83D, 0xDE00, 0, 'z'};
  CHECK_EQ(from_utf16(good.data(), good.size(), changed), "a\u00e9\u20ac\U0001F600");
  CHECK(!changed);
  std::vector<uint16_t> lone = {0xD83D, 'a', 0xDE00, 0xDBFF};
  CHECK_EQ(from_utf16(lone.data(), lone.size(), changed), kMark + "a" + kMark + kMark);
  CHECK(changed);
}

TEST("text: the highest code points of UTF-16 and UTF-32 are the same text") {
  bool changed = false;
  std::vector<uint16_t> pair = {0xDBFF, 0xDFFF};
  std::vector<uint32_t> point = {0x10FFFF};
  CHECK_EQ(from_utf16(pair.data(), 2, changed), "\U0010FFFF");
  CHECK_EQ(from_utf32(point.data(), 1, changed), "\U0010FFFF");
  CHECK(!changed);
}

TEST("text: UTF-32 beyond Unicode and surrogates are replaced; bytes need no alignment") {
  bool changed = false;
  std::vector<uint32_t> units = {0x110000, 'b', 0xD800, 0xFFFFFFFF, 0, 'z'};
  std::string shifted = "x" + std::string(reinterpret_cast<char*>(units.data()), 24);
  CHECK_EQ(from_utf32(shifted.data() + 1, 6, changed), kMark + "b" + kMark + kMark);
  CHECK(changed);
}

TEST("text: colours are eight hexadecimal digits") {
  CHECK_EQ(color_text(0x00000001), "#00000001");
  CHECK_EQ(color_text(0xFFABCDEF), "#FFABCDEF");
}
