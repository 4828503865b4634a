// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "io/sink.h"

namespace nvtx_perfetto {

// The trace file of one session. It is locked (flock) while open, so that two
// sessions never write one path, and cut back to its last whole packet after a
// failed write.
class OutputFile final : public Sink {
 public:
  struct Options {
    bool overwrite = false;
    uint64_t max_size = 0;  // bytes; 0: no limit
  };

  OutputFile() = default;
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Empty on success, else what went wrong and what to do.
  std::string open(const std::string& path, const Options& options);
  bool append(const void* packets, size_t size) noexcept override;
  bool open_for_events() const noexcept override {
    return !failed_.load(std::memory_order_relaxed) && !full_.load(std::memory_order_relaxed);
  }
  // Overwrites bytes at the start of the file; false where the file cannot seek.
  bool patch_start(const void* bytes, size_t size) noexcept;
  // Empty on success, else the first error of the file's life.
  std::string close() noexcept;

  bool reached_limit() const noexcept { return full_.load(std::memory_order_relaxed); }
  // A file on disk, not a device.
  bool regular() const noexcept { return seekable_; }
  uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  const std::string& path() const { return path_; }

 private:
  void fail(int error, const char* doing) noexcept;
  std::string lock_and_clear(const Options& options);

  std::string path_;
  std::string error_;
  std::mutex mutex_;
  int fd_ = -1;
  bool seekable_ = false;
  uint64_t max_size_ = 0;
  std::atomic<uint64_t> size_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> full_{false};
};

}  // namespace nvtx_perfetto
