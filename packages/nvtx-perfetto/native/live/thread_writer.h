// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "live/chunk_pool.h"
#include "live/clock.h"
#include "live/event_input.h"
#include "live/record.h"
#include "live/registry.h"

namespace nvtx_perfetto::live {

class Session;

// The producing end of one thread's buffer. Used by that thread alone; the drain reads what
// has been committed at the same time.
class ThreadWriter {
 public:
  explicit ThreadWriter(const Registry& registry) : registry_(registry) {}
  ~ThreadWriter() { delete[] depths_; }
  ThreadWriter(const ThreadWriter&) = delete;
  ThreadWriter& operator=(const ThreadWriter&) = delete;

  // Finds a slot and a first chunk. Without them (too many threads, a full disk) everything is
  // dropped and counted, and the depths are still kept.
  void attach(Session* session);
  // The thread has ended: hands over what is left to drain.
  void detach();
  // In a forked child: the open ranges are the parent's now.
  void inherit();
  Session* session() const { return session_; }

  int push(uint32_t domain, const EventInput& event);
  int pop(uint32_t domain, const nvtxPayloadData_t* payloads, size_t count);
  void mark(uint32_t domain, const EventInput& event);
  // 0 when the range was dropped.
  uint64_t start(uint32_t domain, const EventInput& event);
  void end(uint64_t id, const nvtxPayloadData_t* payloads, size_t count);

  // An event whose payloads bring its times along.
  void submit(uint32_t domain, const EventInput& event);

  // A sample: `bytes` of a group, or the bits of one number.
  void sample(RecordKind kind, uint32_t domain, uint32_t counter, uint64_t bits);
  void sample_bytes(uint32_t domain, uint32_t counter, const void* bytes, size_t size);
  // Rows of a batch, cut into records of whole rows. `head` comes before the rows in each.
  struct Batch {
    RecordKind kind;
    uint32_t domain;
    uint32_t counter;
    const void* rows;
    size_t row_size;
    size_t count;
    const int64_t* times;  // one a row, or null
  };
  void batch(const Batch& batch, const void* head, size_t head_size);

  void tally(Tally kind, uint64_t much = 1);

  // False while a call of this thread is under way, which a signal handler interrupted.
  bool enter() {
    if (busy_) {
      tally(Tally::kReentered);
      return false;
    }
    busy_ = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return true;
  }
  void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    busy_ = false;
  }

 private:
  struct Depth {
    uint32_t open = 0;
    uint32_t dropped = 0;
    uint32_t inherited = 0;
  };
  struct Shape;  // of a record: its size, flags and cut lengths

  Depth& depth(uint32_t domain) {
    if (domain >= depth_count_) grow_depths(domain);
    return depths_[domain];
  }
  void grow_depths(uint32_t domain);
  void note_domain(uint32_t domain);
  void measure(const EventInput& event, Shape& shape);
  void measure_text(const EventInput& event, Shape& shape);
  void measure_payloads(const EventInput& event, Shape& shape);
  void put_pop(uint32_t domain, int64_t time, size_t kept);
  static uint8_t* put_payloads(const Shape& shape, const EventInput& event, uint8_t* at);
  static void put(const Shape& shape, RecordKind kind, uint32_t domain, const EventInput& event,
                  uint8_t* at, int64_t time);

  // Room for `size` bytes that leaves `kept` bytes free for pops; null when there is none.
  uint8_t* place(size_t size, size_t kept) {
    auto room = static_cast<size_t>(limit_ - at_);
    return size + kept <= room && limit_ > at_ ? at_ : place_slowly(size, kept);
  }
  uint8_t* place_slowly(size_t size, size_t kept);
  void next_chunk();
  void commit(size_t size) {
    at_ += size;
    chunk_->committed.store(static_cast<uint32_t>(at_ - base_), std::memory_order_release);
  }
  size_t reserved() const { return size_t{open_ranges_} * kPopSize; }

  const Registry& registry_;
  Session* session_ = nullptr;
  ThreadSlot* slot_ = nullptr;
  ChunkHeader* chunk_ = nullptr;
  uint8_t* base_ = nullptr;
  uint8_t* at_ = nullptr;
  uint8_t* limit_ = nullptr;  // the middle of the chunk at first, where the drain is woken
  uint8_t* end_ = nullptr;
  uint32_t open_ranges_ = 0;
  uint32_t depth_count_ = 0;
  Depth* depths_ = nullptr;
  bool busy_ = false;
  std::vector<uint32_t> spares_;  // chunks that pops of deep nesting have reserved
};

}  // namespace nvtx_perfetto::live
