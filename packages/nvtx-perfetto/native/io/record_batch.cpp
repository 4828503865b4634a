// SPDX-License-Identifier: Apache-2.0
#include "io/record_batch.h"

#include <algorithm>

namespace nvtx_perfetto {
namespace {

// Below this a comparison sort wins.
constexpr size_t kRadixFrom = 2048;

}  // namespace

// Keys for what lay in order so far come first.
void RecordBatch::add_unordered(const uint8_t* at, const RecordHead& head) {
  if (keys_.empty()) {
    for (const uint8_t* each = buffer_.data(); each < at;) {
      Record record = record_at(each);
      add_key(each, record.head);
      each += record.whole_size();
    }
  }
  add_key(at, head);
  if (head.first < first_.first || (head.first == first_.first && head.second < first_.second)) {
    first_ = head;
  }
}

void RecordBatch::sort() {
  if (keys_.size() < kRadixFrom) {
    std::sort(keys_.begin(), keys_.end());
  } else {
    sort_by_radix();
    sort_equals();
  }
}

// By the first key, digit by digit from the lowest, as far as the keys differ; each pass
// keeps the order of equals, so arrival order survives.
void RecordBatch::sort_by_radix() {
  constexpr int kBits = 11;
  constexpr size_t kBuckets = size_t{1} << kBits;
  auto [low, high] = std::minmax_element(
      keys_.begin(), keys_.end(), [](const Key& a, const Key& b) { return a.first < b.first; });
  auto base = static_cast<uint64_t>(low->first);
  uint64_t span = static_cast<uint64_t>(high->first) - base;
  spare_.resize(keys_.size());
  for (int shift = 0; shift < 64 && span >> shift != 0; shift += kBits) {
    size_t counts[kBuckets] = {};
    auto digit = [&](const Key& key) {
      return (static_cast<uint64_t>(key.first) - base) >> shift & (kBuckets - 1);
    };
    for (const Key& key : keys_) ++counts[digit(key)];
    size_t place = 0;
    for (size_t& count : counts) {
      size_t here = count;
      count = place;
      place += here;
    }
    for (const Key& key : keys_) spare_[counts[digit(key)]++] = key;
    keys_.swap(spare_);
  }
}

// What the first key left equal, which is little, is put right by the rest.
void RecordBatch::sort_equals() {
  for (size_t at = 0; at + 1 < keys_.size();) {
    size_t end = at + 1;
    while (end < keys_.size() && keys_[end].first == keys_[at].first) ++end;
    if (end - at > 1) {
      std::sort(keys_.begin() + static_cast<ptrdiff_t>(at),
                keys_.begin() + static_cast<ptrdiff_t>(end));
    }
    at = end;
  }
}

void RecordBatch::clear() {
  touched_ = memory();
  buffer_.clear();
  keys_.clear();
  count_ = 0;
  last_first_ = last_second_ = INT64_MIN;
}

void RecordBatch::release() {
  clear();
  buffer_.release();
  std::vector<Key>().swap(keys_);
  std::vector<Key>().swap(spare_);
  touched_ = 0;
}

}  // namespace nvtx_perfetto
