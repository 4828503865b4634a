// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nvtx_perfetto::live {

// The bytes of a file, mapped for reading.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Empty on success, else what went wrong. To be called once.
  std::string open(const std::string& path);
  std::string_view bytes() const {
    return base_ ? std::string_view(static_cast<const char*>(base_), size_) : std::string_view();
  }

 private:
  void* base_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nvtx_perfetto::live
