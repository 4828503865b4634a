// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace nvtx_perfetto {

// A nameless temporary file that sorted runs are appended to and read back from. It
// lies in `folder` (the output's, where a trace of that size must fit anyway),
// is made at the first append, and vanishes with the process.
class SpillFile {
 public:
  explicit SpillFile(std::string folder) : folder_(std::move(folder)) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Sets `size` bytes aside and returns their offset, or -1 after an error.
  int64_t allocate(uint64_t size);
  bool write_at(int64_t offset, const void* bytes, size_t size);
  bool read(int64_t offset, void* bytes, size_t size) const;
  // Empty while all went well.
  std::string error() const;

 private:
  bool open_locked();

  std::string folder_;
  mutable std::mutex mutex_;
  std::string error_;
  int fd_ = -1;
  std::atomic<int64_t> end_{0};
};

}  // namespace nvtx_perfetto
