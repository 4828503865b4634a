// SPDX-License-Identifier: Apache-2.0
#include "io/packed_records.h"

namespace nvtx_perfetto {
namespace {

constexpr size_t kHeadWords = sizeof(RecordHead) / sizeof(uint64_t);
static_assert(kHeadWords * sizeof(uint64_t) == sizeof(RecordHead), "a record is whole words");

// Words of a record, with one to make them even.
size_t words_of(size_t whole_size) { return (whole_size / sizeof(uint64_t) + 1) & ~size_t{1}; }

unsigned significant_bytes(uint64_t word) {
  return word ? (71u - static_cast<unsigned>(__builtin_clzll(word))) / 8 : 0;
}

uint64_t low_bytes(const uint8_t* at, unsigned count) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return count == 8 ? word : word & ((uint64_t{1} << 8 * count) - 1);
}

// Adds the changes of two words to what they were.
const uint8_t* unpack_pair(const uint8_t* at, uint64_t* words) {
  unsigned first = *at & 0xF;
  unsigned second = *at >> 4;
  ++at;
  words[0] ^= low_bytes(at, first);
  at += first;
  words[1] ^= low_bytes(at, second);
  return at + second;
}

}  // namespace

void RecordPacker::pack(const Record& record, ByteBuffer& out) {
  size_t real = record.whole_size() / sizeof(uint64_t);
  size_t words = words_of(record.whole_size());
  if (last_.size() < words) last_.resize(words);
  uint64_t* last = last_.data();
  const uint8_t* from = record.whole();
  uint8_t* at = out.reserve(words * sizeof(uint64_t) + words / 2 + kPackedSlack);
  for (size_t i = 0; i < words; i += 2) {
    uint64_t pair[2];
    std::memcpy(&pair[0], from + i * sizeof(uint64_t), sizeof(uint64_t));
    pair[1] = last[i + 1];
    if (i + 1 < real) std::memcpy(&pair[1], from + (i + 1) * sizeof(uint64_t), sizeof(uint64_t));
    uint64_t first = pair[0] ^ last[i];
    uint64_t second = pair[1] ^ last[i + 1];
    last[i] = pair[0];
    last[i + 1] = pair[1];
    unsigned first_size = significant_bytes(first);
    unsigned second_size = significant_bytes(second);
    *at++ = static_cast<uint8_t>(first_size | second_size << 4);
    std::memcpy(at, &first, sizeof(first));
    at += first_size;
    std::memcpy(at, &second, sizeof(second));
    at += second_size;
  }
  out.commit_to(at);
}

const uint8_t* RecordUnpacker::unpack(const uint8_t* at, Record& record) {
  constexpr size_t kFirst = (kHeadWords + 1) & ~size_t{1};
  if (last_.size() < kFirst) last_.resize(kFirst);
  for (size_t i = 0; i < kFirst; i += 2) at = unpack_pair(at, last_.data() + i);
  std::memcpy(&record.head, last_.data(), sizeof(RecordHead));
  size_t words = words_of(record.whole_size());
  if (last_.size() < words) last_.resize(words);
  for (size_t i = kFirst; i < words; i += 2) at = unpack_pair(at, last_.data() + i);
  record.bytes = reinterpret_cast<const uint8_t*>(last_.data()) + sizeof(RecordHead);
  return at;
}

}  // namespace nvtx_perfetto
