// SPDX-License-Identifier: Apache-2.0
#include "io/run_sorter.h"

#include <algorithm>
#include <memory>

namespace nvtx_perfetto {
namespace {

constexpr size_t kOrderedBatch = 128 << 10;
constexpr size_t kChargeStep = 16 << 10;
constexpr size_t kHoldsMuch = 64 << 10;  // from here on a sorter counts as a holder
constexpr size_t kMinReadChunk = 16 << 10;
constexpr size_t kMaxReadChunk = 1 << 20;
constexpr size_t kWriteChunk = 256 << 10;
constexpr size_t kMinFanIn = 8;
constexpr size_t kMaxFanIn = 256;

}  // namespace

// Writes one run into the place set aside for it, a chunk at a time.
class RunSorter::RunWriter {
 public:
  RunWriter(SpillFile& file, int64_t start) : file_(file), start_(start), at_(start) {}
  void add(const Record& record) {
    chunk_.append(record.whole(), record.whole_size());
    if (chunk_.size() >= kWriteChunk) flush();
  }
  // False when any byte of the run could not be written.
  bool flush() {
    good_ = good_ && file_.write_at(at_, chunk_.data(), chunk_.size());
    at_ += static_cast<int64_t>(chunk_.size());
    chunk_.clear();
    return good_;
  }
  bool finish() { return flush() && file_.finish(start_); }

 private:
  SpillFile& file_;
  int64_t start_;
  int64_t at_;
  ByteBuffer chunk_;
  bool good_ = true;
};

// Reads one run record by record: from memory, or from the file a chunk at a time; the chunk
// grows to hold its largest record.
class RunSorter::RunReader {
 public:
  RunReader(const SpillFile& file, const Run& run, size_t chunk)
      : file_(file), records_(run.records), chunk_(chunk) {
    if (run.in_memory()) {
      packed_ = run.memory.data();
    } else {
      next_ = run.offset;
      left_ = run.size;
    }
  }

  // False at the end and after an I/O error; `records()` is then above 0.
  bool advance() {
    if (records_ == 0) return false;
    if (packed_) {
      packed_ = unpacker_.unpack(packed_, record_);
      --records_;
      return true;
    }
    if (!have(sizeof(RecordHead))) return false;
    std::memcpy(&record_.head, at_, sizeof(RecordHead));
    if (!have(record_.whole_size())) return false;
    record_.bytes = at_ + sizeof(RecordHead);
    at_ += record_.whole_size();
    --records_;
    return true;
  }
  const Record& record() const { return record_; }
  uint64_t records() const { return records_; }

 private:
  bool have(size_t wanted) {
    auto held = static_cast<size_t>(end_ - at_);
    if (held >= wanted) return true;
    if (held > 0) std::memmove(buffer_.data(), at_, held);
    buffer_.truncate(held);
    size_t more = std::max(chunk_, wanted) - held;
    if (more > left_) more = static_cast<size_t>(left_);
    bool good = held + more >= wanted && file_.read(next_, buffer_.reserve(more), more);
    if (good) {
      buffer_.commit(more);
      next_ += static_cast<int64_t>(more);
      left_ -= more;
    }
    at_ = buffer_.data();
    end_ = at_ + buffer_.size();
    return good;
  }

  const SpillFile& file_;
  uint64_t records_;
  size_t chunk_;
  int64_t next_ = 0;
  uint64_t left_ = 0;
  const uint8_t* packed_ = nullptr;  // of a run in memory
  RecordUnpacker unpacker_;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  ByteBuffer buffer_;
  Record record_{};
};

RunSorter::RunSorter(MemoryBudget& budget, SpillFile& file)
    : budget_(budget), file_(file), batch_size_(budget.batch_size()),
      ordered_size_(std::min(kOrderedBatch, batch_size_)) {}

// The youngest run, where the batch follows on it; a new one otherwise.
RunSorter::Run& RunSorter::run_for_batch() {
  bool follows =
      !runs_.empty() && runs_.back().in_memory() && !batch_.sorts_before(runs_.back().last);
  // Small batches stay in the nearest cache, but each may become a run of its own.
  ordered_size_ = follows || runs_.empty() ? std::min(kOrderedBatch, batch_size_) : batch_size_;
  if (!follows) {
    packer_.restart();
    runs_.emplace_back();
  }
  return runs_.back();
}

void RunSorter::seal() {
  if (batch_.empty()) return;
  Run& run = run_for_batch();
  size_t before = run.memory.size();
  batch_.visit([&](const Record& record) {
    packer_.pack(record, run.memory);
    run.last = record.head;
  });
  run.size += batch_.size();
  run.records += batch_.count();
  sealed_ += run.memory.size() - before;
  batch_.clear();
  charge();
}

void RunSorter::charge() {
  settle(sealed_ + batch_.memory());
  charge_at_ = batch_.memory() + kChargeStep;
  batch_size_ = budget_.batch_size();
}

void RunSorter::settle(size_t held) {
  bool held_much = charged_ > kHoldsMuch;
  bool holds_much = held > kHoldsMuch;
  if (holds_much && !held_much) budget_.enter();
  if (held_much && !holds_much) budget_.leave();
  budget_.charge(held - charged_);  // wraps where it is less
  charged_ = held;
  memory_.store(held, std::memory_order_relaxed);
}

// Into the place in the file that was set aside; false when not all is there.
bool RunSorter::write_merged(size_t first, size_t last, const Run& merged) {
  if (merged.offset < 0) return false;
  RunWriter writer(file_, merged.offset);
  uint64_t lost = merge(first, last, [&](const Record& record) { writer.add(record); });
  return lost == 0 && writer.finish();
}

bool RunSorter::spill() {
  Run merged;
  merged.size = batch_.size();
  merged.records = batch_.count();
  size_t first = runs_.size();
  for (; first > 0 && runs_[first - 1].in_memory(); --first) merged.take(runs_[first - 1]);
  if (merged.records == 0) return true;
  file_.announce_run();
  // On a full disk this is tried again and again, and must not make a run of every record.
  merged.offset = file_.allocate(merged.size, label_, merged.records);
  if (merged.offset < 0) return false;
  seal();
  if (!write_merged(first, runs_.size(), merged)) return false;
  runs_.resize(first);
  runs_.push_back(std::move(merged));
  budget_.count_run();
  sealed_ = 0;
  batch_.release();
  charge();
  return true;
}

size_t RunSorter::fan_in() const {
  return std::clamp(budget_.limit() / kMinReadChunk / 2, kMinFanIn, kMaxFanIn);
}

bool RunSorter::drain(const Visitor& visit) {
  if (runs_.empty()) {
    batch_.visit(visit);
  } else {
    seal();
    // Runs that could not be written are still in memory, and merged all the same.
    bool reduced = reduce_runs();
    lost_ += reduced ? merge(0, runs_.size(), visit) : count_;
  }
  bool good = lost_ == 0;
  reset();
  return good;
}

// Merges neighbours, never others, so that equal records keep their arrival order.
bool RunSorter::reduce_runs() {
  size_t most = fan_in();
  auto in_file = [this] {
    return static_cast<size_t>(
        std::count_if(runs_.begin(), runs_.end(), [](const Run& run) { return !run.in_memory(); }));
  };
  for (size_t files = in_file(); files > most; files = in_file()) {
    std::vector<Run> reduced;
    for (size_t at = 0; at < files; at += most) {
      size_t end = std::min(at + most, files);
      Run merged;
      for (size_t i = at; i < end; ++i) merged.take(runs_[i]);
      // Whoever finds the file has these records in the runs that are merged.
      merged.offset = file_.allocate(merged.size);
      if (!write_merged(at, end, merged)) return false;
      reduced.push_back(std::move(merged));
    }
    for (size_t i = files; i < runs_.size(); ++i) reduced.push_back(std::move(runs_[i]));
    runs_ = std::move(reduced);
  }
  return true;
}

// Visits the records of some runs in order; how many could not be read.
uint64_t RunSorter::merge(size_t first, size_t last, const Visitor& visit) {
  size_t chunk = std::clamp(budget_.limit() / (last - first + 1), kMinReadChunk, kMaxReadChunk);
  // The keys stand in the heap itself, where comparing them needs no look elsewhere.
  struct Head {
    int64_t first;
    int64_t second;
    size_t run;
  };
  auto later = [](const Head& a, const Head& b) {
    if (a.first != b.first) return a.first > b.first;
    if (a.second != b.second) return a.second > b.second;
    return a.run > b.run;
  };
  std::vector<std::unique_ptr<RunReader>> readers;
  std::vector<Head> heap;
  auto head_of = [&](size_t run) {
    const RecordHead& head = readers[run]->record().head;
    return Head{head.first, head.second, run};
  };
  for (size_t i = first; i < last; ++i) {
    readers.push_back(std::make_unique<RunReader>(file_, runs_[i], chunk));
    if (readers.back()->advance()) heap.push_back(head_of(readers.size() - 1));
  }
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    size_t least = heap.front().run;
    visit(readers[least]->record());
    if (!readers[least]->advance()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      heap.pop_back();
      continue;
    }
    // Sift the new head of that run down; cheaper than a pop and a push.
    Head next = head_of(least);
    size_t hole = 0;
    for (size_t child = 1; child < heap.size(); child = 2 * hole + 1) {
      if (child + 1 < heap.size() && later(heap[child], heap[child + 1])) ++child;
      if (!later(next, heap[child])) break;
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = next;
  }
  uint64_t lost = 0;
  for (const auto& reader : readers) lost += reader->records();
  return lost;
}

void RunSorter::reset() {
  batch_.memory() > kChargeStep ? batch_.release() : batch_.clear();
  runs_.clear();
  sealed_ = 0;
  count_ = 0;
  if (charged_ > kChargeStep) charge();
}

}  // namespace nvtx_perfetto
