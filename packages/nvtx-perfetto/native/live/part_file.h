// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "io/sink.h"

namespace nvtx_perfetto::live {

// The trace that one process image writes. A failed write is not the end: the file is cut
// back and the next drain tries again. Used by one drain at a time.
class PartFile final : public Sink {
 public:
  PartFile() = default;
  ~PartFile() override { close(); }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  // Both: empty on success, else what went wrong.
  std::string create(const std::string& path);
  std::string open(const std::string& path);

  bool append(const void* packets, size_t size) noexcept override;
  bool open_for_events() const noexcept override { return true; }

  uint64_t size() const { return size_; }
  // Forgets a failure and what lies beyond `size`.
  bool cut(uint64_t size);
  bool failed() const { return failed_; }
  const std::string& problem() const { return problem_; }
  const std::string& path() const { return path_; }

  bool close();
  void abandon_in_child();

 private:
  std::string path_;
  std::string problem_;
  uint64_t size_ = 0;
  int fd_ = -1;
  bool failed_ = false;
};

}  // namespace nvtx_perfetto::live
