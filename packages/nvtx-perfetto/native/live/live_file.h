// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "io/host.h"
#include "live/layout.h"

namespace nvtx_perfetto::live {

// The mapped shared memory of one process image. The process holds a file lock (flock) on
// it while it lives; forked children neither see the mapping nor keep the lock.
// Every byte that is touched has disk space behind it, so that a full disk cannot raise SIGBUS.
class LiveFile {
 public:
  LiveFile() = default;
  ~LiveFile() { unmap(); }
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;

  // Empty on success, else what went wrong. The header's fields but for magic and version
  // are for the caller to fill in.
  std::string create(const std::string& path, uint32_t chunk_limit);

  enum class Found { kDead, kAlive, kForeign, kUnreadable };
  // Maps what a dead process left, and locks it. kForeign: it belongs to another host.
  Found open(const std::string& path);

  // Puts disk space behind one more chunk and returns its index, or -1. Not safe for use by
  // several threads at once.
  int64_t extend();
  // Maps a chunk's memory, for which several threads need not wait for each other.
  void populate(uint32_t index);

  FileHeader& header() const { return *reinterpret_cast<FileHeader*>(base_); }
  ThreadSlot* slots() const { return reinterpret_cast<ThreadSlot*>(base_ + kSlotsStart); }
  CounterState* counters() const { return reinterpret_cast<CounterState*>(base_ + kCountersStart); }
  uint8_t* chunk(uint32_t index) const { return base_ + kChunksStart + index * kChunkSize; }
  ChunkHeader& chunk_header(uint32_t index) const {
    return *reinterpret_cast<ChunkHeader*>(chunk(index));
  }
  // Whether a chunk of this index can be there; for what is read from a dead process's file.
  bool holds(uint32_t index) const { return index < limit_; }

  // Bytes of shared memory in use.
  uint64_t bytes() const {
    return kChunksStart + uint64_t{chunks_.load(std::memory_order_relaxed)} * kChunkSize;
  }

  // In a forked child: forgets the mapping, which is not there, and gives up the lock's copy.
  void abandon_in_child();
  void remove();
  const std::string& path() const { return path_; }

 private:
  std::string reserve(size_t offset, size_t size);
  void unmap();

  std::string path_;
  uint8_t* base_ = nullptr;
  size_t mapped_ = 0;
  std::atomic<uint32_t> chunks_{0};
  uint32_t limit_ = 0;
  int fd_ = -1;
};

}  // namespace nvtx_perfetto::live
