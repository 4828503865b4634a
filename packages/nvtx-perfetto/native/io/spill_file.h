// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "io/spill_format.h"

namespace nvtx_perfetto {

// The folder that a path lies in.
std::string folder_of(const std::string& path);

// A temporary file that sorted runs are appended to and read back from. It lies in
// `folder` (the output's, where a trace of that size must fit anyway) and is made at the first
// append.
//
// Without a name it vanishes with the process. With one it is locked (flock) while it is in
// use, goes when it is removed or destroyed, and stays behind when the process is killed. Where
// no name can be given, it does without.
class SpillFile {
 public:
  explicit SpillFile(std::string folder) : folder_(std::move(folder)) {}
  ~SpillFile() { remove(); }
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // To be called before the first append: the file is `output`.<pid>.<8 hex>.spill.
  void name_after(const std::string& output);
  // No later block means anything to others; a file that is not made yet needs no name.
  void stop_naming();
  // Whether others will find what is written from now on.
  bool named() const { return named_.load(std::memory_order_relaxed); }
  bool made() const { return end_.load(std::memory_order_relaxed) > 0; }

  // What is to be called before every run of a file that others may find.
  void set_preface(std::function<void()> preface) { preface_ = std::move(preface); }
  void announce_run() {
    if (preface_ && named()) preface_();
  }

  // Sets `size` bytes aside and returns their offset, or -1 after an error.
  int64_t allocate(uint64_t size, const SpillLabel& label = {}, uint64_t records = 0);
  bool write_at(int64_t offset, const void* bytes, size_t size);
  // All bytes of the block at this offset are written.
  bool finish(int64_t offset);
  bool read(int64_t offset, void* bytes, size_t size) const;
  // Nothing may be written or read afterwards.
  void remove() noexcept;
  // Empty while all went well.
  std::string error() const;

 private:
  bool open_locked();
  bool open_named();
  bool write_bytes(int64_t offset, const void* bytes, size_t size);
  bool write_locked(int64_t offset, const void* bytes, size_t size);
  void note_error(int error);

  std::string folder_;
  std::function<void()> preface_;
  std::string output_;  // empty: no name is wanted
  std::string path_;    // empty: it has none
  mutable std::mutex mutex_;
  std::string error_;
  int fd_ = -1;
  std::atomic<bool> named_{false};
  std::atomic<int64_t> end_{0};
};

}  // namespace nvtx_perfetto
