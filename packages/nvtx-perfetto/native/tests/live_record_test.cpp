// SPDX-License-Identifier: Apache-2.0
#include "live/record.h"

#include <cstring>
#include <random>
#include <vector>

#include "check.h"

using namespace nvtx_perfetto::live;

namespace {

const uint8_t* bytes_of(const std::vector<uint64_t>& words) {
  return reinterpret_cast<const uint8_t*>(words.data());
}

}  // namespace

TEST("live record: the extras come in the order of the flags") {
  std::vector<uint64_t> words(10);
  auto* at = reinterpret_cast<uint8_t*>(words.data());
  Record head{42, 5, 7, kPush, kAttributes | kValue | kInlineText};
  AttributesExtra attributes{3, 0xFF00FF00};
  ValueExtra value{2, 0, 99};
  std::memcpy(at, &head, sizeof(head));
  std::memcpy(at + 16, &attributes, sizeof(attributes));
  std::memcpy(at + 24, &value, sizeof(value));
  std::memcpy(at + 40, "hello", 5);
  RecordView view;
  CHECK(parse_record(at, at + 48, view));
  CHECK_EQ(view.size, size_t{48});
  CHECK_EQ(view.attributes->color, 0xFF00FF00u);
  CHECK_EQ(view.value->bits, uint64_t{99});
  CHECK_EQ(std::string(view.text, view.head->text), "hello");
}

TEST("live record: whatever is cut short is no record") {
  std::vector<uint64_t> words(8);
  Record head{1, 0, 0, kMark, kBytes};
  BytesExtra extra{24, 1};
  std::memcpy(words.data(), &head, sizeof(head));
  std::memcpy(words.data() + 2, &extra, sizeof(extra));
  RecordView view;
  CHECK(parse_record(bytes_of(words), bytes_of(words) + 48, view));
  CHECK(!parse_record(bytes_of(words), bytes_of(words) + 40, view));
  CHECK(!parse_record(bytes_of(words), bytes_of(words) + 16, view));
  CHECK(!parse_record(bytes_of(words), bytes_of(words) + 8, view));
}

TEST("live record: random bytes never reach beyond their end") {
  std::mt19937_64 random(7);
  std::vector<uint64_t> words(64);
  for (int round = 0; round < 20'000; ++round) {
    for (uint64_t& word : words) word = random();
    auto* head = reinterpret_cast<Record*>(words.data());
    head->kind = static_cast<uint8_t>(random() % 14);
    head->text %= 700;
    const uint8_t* end = bytes_of(words) + words.size() * sizeof(uint64_t);
    RecordView view;
    if (!parse_record(bytes_of(words), end, view)) continue;
    CHECK(bytes_of(words) + view.size <= end);
    if (view.text) CHECK(reinterpret_cast<const uint8_t*>(view.text) + view.head->text <= end);
    if (view.bytes) CHECK(view.data() + view.bytes->size <= end);
  }
}
