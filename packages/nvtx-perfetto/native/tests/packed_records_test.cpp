// SPDX-License-Identifier: Apache-2.0
#include "io/packed_records.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.h"

using namespace nvtx_perfetto;

namespace {

// A record's words as they lie in memory: head and padded bytes.
using Words = std::vector<uint64_t>;

Words words_of(int64_t first, int64_t second, uint32_t tag, const std::string& bytes) {
  Words words(3 + padded_size(bytes.size()) / 8);
  RecordHead head{first, second, static_cast<uint32_t>(bytes.size()), tag};
  std::memcpy(words.data(), &head, sizeof(head));
  std::memcpy(words.data() + 3, bytes.data(), bytes.size());
  return words;
}

Record record_of(const Words& words) {
  Record record;
  std::memcpy(&record.head, words.data(), sizeof(record.head));
  record.bytes = reinterpret_cast<const uint8_t*>(words.data() + 3);
  return record;
}

ByteBuffer packed(const std::vector<Words>& records) {
  ByteBuffer out;
  RecordPacker packer;
  for (const Words& words : records) packer.pack(record_of(words), out);
  return out;
}

std::vector<Words> unpacked(const ByteBuffer& bytes, size_t count) {
  std::vector<Words> records;
  RecordUnpacker unpacker;
  const uint8_t* at = bytes.data();
  for (size_t i = 0; i < count; ++i) {
    Record record;
    at = unpacker.unpack(at, record);
    Words words(record.whole_size() / 8);
    std::memcpy(words.data(), record.whole(), record.whole_size());
    records.push_back(words);
  }
  CHECK(at == bytes.data() + bytes.size());
  return records;
}

}  // namespace

TEST("packed records: any bytes of any length come back") {
  std::mt19937_64 random(7);
  std::vector<Words> records;
  for (uint32_t i = 0; i < 5000; ++i) {
    std::string bytes(random() % 70, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() >> random() % 64);
    records.push_back(words_of(static_cast<int64_t>(random() >> random() % 64),
                               -static_cast<int64_t>(random() >> 1), i, bytes));
  }
  CHECK(unpacked(packed(records), records.size()) == records);
}

TEST("packed records: a long record does not confuse the short ones after it") {
  std::vector<Words> records = {words_of(1, ~2, 0, std::string(100'000, 'x')),
                                words_of(1, ~1, 1, ""), words_of(2, ~9, 2, "short"),
                                words_of(INT64_MAX, INT64_MIN, ~0u, std::string(99'999, 'y'))};
  CHECK(unpacked(packed(records), records.size()) == records);
}

TEST("packed records: neighbours that differ little take little") {
  std::vector<Words> records;
  for (int64_t i = 0; i < 1000; ++i) {
    records.push_back(
        words_of(1'700'000'000'000'000'000 + i * 100, ~(i * 100), 5, "same text here"));
  }
  ByteBuffer bytes = packed(records);
  CHECK(bytes.size() < 1000 * 8);
  CHECK(unpacked(bytes, records.size()) == records);
}

TEST("packed records: after a restart nothing of the run before is needed") {
  ByteBuffer out;
  RecordPacker packer;
  Words first = words_of(10, ~20, 1, "first run");
  Words second = words_of(10, ~20, 1, "first run, again");
  packer.pack(record_of(first), out);
  out.clear();
  packer.restart();
  packer.pack(record_of(second), out);
  CHECK(unpacked(out, 1) == std::vector<Words>{second});
}
