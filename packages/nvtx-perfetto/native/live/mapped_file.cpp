// SPDX-License-Identifier: Apache-2.0
#include "live/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nvtx_perfetto::live {
namespace {

std::string failure(const char* doing, const std::string& path, int error) {
  return std::string(doing) + " " + path + " failed: " + std::strerror(error);
}

}  // namespace

MappedFile::~MappedFile() {
  if (base_) ::munmap(base_, size_);
}

std::string MappedFile::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure("opening", path, errno);
  struct stat found;
  std::string problem;
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    problem = path + " is no file";
  } else if (found.st_size > 0) {
    size_ = static_cast<size_t>(found.st_size);
    void* base = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED)
      problem = failure("mapping", path, errno);
    else
      base_ = base;
  }
  ::close(fd);
  return problem;
}

}  // namespace nvtx_perfetto::live
