// SPDX-License-Identifier: Apache-2.0
#include "io/run_sorter.h"

#include <algorithm>
#include <memory>

namespace nvtx_perfetto {
namespace {

constexpr size_t kChargeStep = 64 << 10;
constexpr size_t kMinReadChunk = 16 << 10;
constexpr size_t kMaxReadChunk = 1 << 20;
constexpr size_t kWriteChunk = 256 << 10;
// Below this a comparison sort wins.
constexpr size_t kRadixFrom = 2048;
// How far ahead records are fetched: their order in memory is not that of the keys.
constexpr size_t kPrefetch = 12;
// What an emptied sorter keeps for the next records.
constexpr size_t kKept = 64 << 10;
constexpr size_t kMinFanIn = 8;
constexpr size_t kMaxFanIn = 256;

}  // namespace

// Writes one run into the place set aside for it, a chunk at a time.
class RunSorter::RunWriter {
 public:
  RunWriter(SpillFile& file, uint64_t size)
      : file_(file), start_(file.allocate(size)), at_(start_) {}
  void add(const Record& record) {
    chunk_.append(&record.head, sizeof(record.head));
    chunk_.append(record.bytes, padded_size(record.head.size));
    if (chunk_.size() >= kWriteChunk) flush();
  }
  // False when any byte of the run could not be written.
  bool flush() {
    good_ = good_ && start_ >= 0 && file_.write_at(at_, chunk_.data(), chunk_.size());
    at_ += static_cast<int64_t>(chunk_.size());
    chunk_.clear();
    return good_;
  }
  int64_t start() const { return start_; }

 private:
  SpillFile& file_;
  int64_t start_;
  int64_t at_;
  ByteBuffer chunk_;
  bool good_ = true;
};

// Reads one run back, a chunk at a time; the chunk grows to hold its largest record.
class RunSorter::RunReader {
 public:
  RunReader(const SpillFile& file, const Run& run, size_t chunk)
      : file_(file), next_(run.offset), left_(run.size), records_(run.records), chunk_(chunk) {}

  // False at the end and after an I/O error; `records()` is then above 0.
  bool advance() {
    if (records_ == 0) return false;
    if (!have(sizeof(RecordHead))) return false;
    std::memcpy(&record_.head, buffer_.data() + at_, sizeof(RecordHead));
    size_t whole = sizeof(RecordHead) + padded_size(record_.head.size);
    if (!have(whole)) return false;
    record_.bytes = buffer_.data() + at_ + sizeof(RecordHead);
    at_ += whole;
    --records_;
    return true;
  }
  const Record& record() const { return record_; }
  uint64_t records() const { return records_; }

 private:
  bool have(size_t wanted) {
    size_t held = buffer_.size() - at_;
    if (held >= wanted) return true;
    std::memmove(buffer_.data(), buffer_.data() + at_, held);
    buffer_.truncate(held);
    at_ = 0;
    size_t more = std::max(chunk_, wanted) - held;
    if (more > left_) more = static_cast<size_t>(left_);
    if (held + more < wanted) return false;
    if (!file_.read(next_, buffer_.reserve(more), more)) return false;
    buffer_.commit(more);
    next_ += static_cast<int64_t>(more);
    left_ -= more;
    return true;
  }

  const SpillFile& file_;
  int64_t next_;
  uint64_t left_;
  uint64_t records_;
  size_t chunk_;
  size_t at_ = 0;
  ByteBuffer buffer_;
  Record record_{};
};

uint8_t* RunSorter::add(int64_t first, int64_t second, uint32_t tag, size_t size) {
  uint64_t offset = buffer_.size();
  size_t whole = sizeof(RecordHead) + padded_size(size);
  uint8_t* at = buffer_.reserve(whole);
  RecordHead head{first, second, static_cast<uint32_t>(size), tag};
  std::memcpy(at, &head, sizeof(head));
  if (size & 7) std::memset(at + whole - 8, 0, 8);
  buffer_.commit(whole);
  Key key{first, second, offset};
  if (sorted_ && !keys_.empty() && key < keys_.back()) sorted_ = false;
  keys_.push_back(key);
  ++count_;
  charge();
  return at + sizeof(head);
}

void RunSorter::add(int64_t first, int64_t second, uint32_t tag, const void* bytes, size_t size) {
  uint8_t* at = add(first, second, tag, size);
  if (size) std::memcpy(at, bytes, size);
}

void RunSorter::charge() {
  // Twice the keys: sorting takes as much again.
  size_t held = buffer_.size() + 2 * keys_.size() * sizeof(Key);
  if (held < charged_ + kChargeStep && charged_ != 0) return;
  budget_.charge(held - charged_);
  charged_ = held;
  memory_.store(held, std::memory_order_relaxed);
}

Record RunSorter::record_ahead(size_t index) const {
  if (index + kPrefetch < keys_.size()) {
    const uint8_t* ahead = buffer_.data() + keys_[index + kPrefetch].offset;
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + 64);
  }
  return record_at(keys_[index].offset);
}

Record RunSorter::record_at(uint64_t offset) const {
  Record record;
  std::memcpy(&record.head, buffer_.data() + offset, sizeof(RecordHead));
  record.bytes = buffer_.data() + offset + sizeof(RecordHead);
  return record;
}

void RunSorter::sort_keys() {
  if (!sorted_) {
    if (keys_.size() < kRadixFrom) {
      std::sort(keys_.begin(), keys_.end());
    } else {
      sort_by_radix();
    }
  }
  sorted_ = true;
}

// Sorts by the first key, digit by digit from the lowest, skipping digits that are all the
// same; each pass keeps the order of equals, so arrival order survives. Runs of equal first keys,
// which are short, are then sorted by the rest.
void RunSorter::sort_by_radix() {
  constexpr int kBits = 11;
  constexpr size_t kBuckets = size_t{1} << kBits;
  constexpr uint64_t kSign = uint64_t{1} << 63;
  auto [low, high] = std::minmax_element(
      keys_.begin(), keys_.end(), [](const Key& a, const Key& b) { return a.first < b.first; });
  uint64_t base = static_cast<uint64_t>(low->first) ^ kSign;
  uint64_t span = (static_cast<uint64_t>(high->first) ^ kSign) - base;
  spare_.resize(keys_.size());
  for (int shift = 0; shift < 64 && span >> shift != 0; shift += kBits) {
    size_t counts[kBuckets] = {};
    auto digit = [&](const Key& key) {
      return ((static_cast<uint64_t>(key.first) ^ kSign) - base) >> shift & (kBuckets - 1);
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

bool RunSorter::spill() {
  if (keys_.empty()) return true;
  sort_keys();
  RunWriter writer(file_, buffer_.size());
  for (size_t i = 0; i < keys_.size(); ++i) writer.add(record_ahead(i));
  if (!writer.flush()) return false;
  runs_.push_back({writer.start(), buffer_.size(), keys_.size()});
  budget_.count_run();
  give_back();
  return true;
}

void RunSorter::give_back() {
  if (buffer_.capacity() > kKept) {
    buffer_.release();
    std::vector<Key>().swap(keys_);
    std::vector<Key>().swap(spare_);
  }
  buffer_.clear();
  keys_.clear();
  sorted_ = true;
  budget_.release(charged_);
  charged_ = 0;
  memory_.store(0, std::memory_order_relaxed);
}

size_t RunSorter::fan_in() const {
  return std::clamp(budget_.limit() / kMinReadChunk / 2, kMinFanIn, kMaxFanIn);
}

bool RunSorter::drain(const Visitor& visit) {
  if (runs_.empty()) {
    sort_keys();
    for (size_t i = 0; i < keys_.size(); ++i) visit(record_ahead(i));
    reset();
    return true;
  }
  bool good = spill() && reduce_runs(fan_in());
  if (good) {
    good = merge(std::move(runs_), visit);
  } else {
    lost_ = count_;
  }
  reset();
  return good;
}

// Merges neighbours, never others, so that equal records keep their arrival order.
bool RunSorter::reduce_runs(size_t fan_in) {
  while (runs_.size() > fan_in) {
    std::vector<Run> reduced;
    for (size_t at = 0; at < runs_.size(); at += fan_in) {
      std::vector<Run> group(
          runs_.begin() + static_cast<ptrdiff_t>(at),
          runs_.begin() + static_cast<ptrdiff_t>(std::min(at + fan_in, runs_.size())));
      uint64_t size = 0;
      uint64_t records = 0;
      for (const Run& run : group) size += run.size, records += run.records;
      RunWriter writer(file_, size);
      bool merged = merge(std::move(group), [&](const Record& record) { writer.add(record); });
      if (!writer.flush() || !merged) return false;
      reduced.push_back({writer.start(), size, records});
    }
    runs_ = std::move(reduced);
  }
  return true;
}

bool RunSorter::merge(std::vector<Run> runs, const Visitor& visit) {
  size_t chunk = std::clamp(budget_.limit() / (runs.size() + 1), kMinReadChunk, kMaxReadChunk);
  std::vector<std::unique_ptr<RunReader>> readers;
  std::vector<size_t> heap;
  for (const Run& run : runs) {
    readers.push_back(std::make_unique<RunReader>(file_, run, chunk));
    if (readers.back()->advance()) heap.push_back(readers.size() - 1);
  }
  auto later = [&](size_t a, size_t b) {
    const RecordHead& left = readers[a]->record().head;
    const RecordHead& right = readers[b]->record().head;
    if (left.first != right.first) return left.first > right.first;
    if (left.second != right.second) return left.second > right.second;
    return a > b;
  };
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    size_t least = heap.front();
    visit(readers[least]->record());
    if (readers[least]->advance()) {
      // Sift the new head of that run down; cheaper than a pop and a push.
      size_t hole = 0;
      for (;;) {
        size_t child = 2 * hole + 1;
        if (child >= heap.size()) break;
        if (child + 1 < heap.size() && later(heap[child], heap[child + 1])) ++child;
        if (!later(least, heap[child])) break;
        heap[hole] = heap[child];
        hole = child;
      }
      heap[hole] = least;
    } else {
      std::pop_heap(heap.begin(), heap.end(), later);
      heap.pop_back();
    }
  }
  for (const auto& reader : readers) lost_ += reader->records();
  return lost_ == 0;
}

void RunSorter::reset() {
  give_back();
  runs_.clear();
  count_ = 0;
}

}  // namespace nvtx_perfetto
