// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nvtx_perfetto::live {

// The right to write the output file itself. Of the processes that are told the same output,
// the first has it while it lives; the others leave parts.
class OutputClaim {
 public:
  OutputClaim() = default;
  ~OutputClaim() { give_up(); }
  OutputClaim(const OutputClaim&) = delete;
  OutputClaim& operator=(const OutputClaim&) = delete;

  // kTaken: another process has it. kExists: a finished file is in the way.
  enum class Result { kMine, kTaken, kExists, kFailed };
  Result take(const std::string& path, bool overwrite);
  bool held() const { return fd_ >= 0; }
  // Puts the finished part in place.
  bool fulfil(const std::string& part);
  void give_up();

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace nvtx_perfetto::live
