// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "io/byte_buffer.h"
#include "io/sink.h"

namespace nvtx_perfetto {

// Hands out packet sequence ids; one a trace file.
class SequenceIds {
 public:
  explicit SequenceIds(uint32_t first = 1) : next_(first) {}
  uint32_t next() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> next_;
};

// Gathers the packets of one thread of writing and passes them to the sink in chunks
// of whole packets. Sequences that share a buffer are used by one thread at a time.
class PacketBuffer {
 public:
  static constexpr size_t kChunk = 64 << 10;

  PacketBuffer(Sink& sink, SequenceIds& ids, size_t chunk = kChunk)
      : sink_(sink), ids_(ids), chunk_(chunk) {}

  ByteBuffer& bytes() { return bytes_; }
  SequenceIds& ids() { return ids_; }
  bool open_for_events() const { return sink_.open_for_events(); }

  // To be called between packets.
  void flush_if_full() {
    if (bytes_.size() >= chunk_) flush();
  }
  // Packets that the sink does not take are lost and counted by `failed_flushes`.
  bool flush() {
    if (bytes_.empty()) return true;
    bool taken = sink_.append(bytes_.data(), bytes_.size());
    if (!taken) ++failed_flushes_;
    bytes_.clear();
    return taken;
  }
  void release() {
    flush();
    bytes_.release();
  }
  uint64_t failed_flushes() const { return failed_flushes_; }

 private:
  Sink& sink_;
  SequenceIds& ids_;
  size_t chunk_;
  ByteBuffer bytes_;
  uint64_t failed_flushes_ = 0;
};

}  // namespace nvtx_perfetto
