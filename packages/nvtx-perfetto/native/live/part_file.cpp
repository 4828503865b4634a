// SPDX-License-Identifier: Apache-2.0
#include "live/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nvtx_perfetto::live {
namespace {

std::string failure(const char* doing, const std::string& path, int error) {
  return std::string(doing) + " " + path + " failed: " + std::strerror(error);
}

}  // namespace

std::string PartFile::create(const std::string& path) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    return failure("creating", path, errno) + "; check that its folder exists and can be written";
  }
  return {};
}

std::string PartFile::open(const std::string& path) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) return failure("opening", path, errno);
  size_ = static_cast<uint64_t>(::lseek(fd_, 0, SEEK_END));
  return {};
}

bool PartFile::append(const void* packets, size_t size) noexcept {
  if (fd_ < 0 || failed_) return false;
  const char* at = static_cast<const char*>(packets);
  uint64_t offset = size_;
  size_t left = size;
  while (left > 0) {
    ssize_t done = ::pwrite(fd_, at, left, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      failed_ = true;
      try {
        problem_ = failure("writing", path_, done < 0 ? errno : EIO);
      } catch (...) {  // out of memory: the flag alone tells
      }
      return false;
    }
    at += done;
    offset += static_cast<uint64_t>(done);
    left -= static_cast<size_t>(done);
  }
  size_ = offset;
  return true;
}

bool PartFile::cut(uint64_t size) {
  failed_ = false;
  size_ = size;
  return ::ftruncate(fd_, static_cast<off_t>(size)) == 0;
}

bool PartFile::close() {
  bool good = true;
  if (fd_ >= 0) {
    // Some file systems (NFS, quotas) report a lost write only here.
    good = ::close(fd_) == 0 || errno == EINTR;
    if (!good) problem_ = failure("closing", path_, errno);
    fd_ = -1;
  }
  return good;
}

void PartFile::abandon_in_child() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace nvtx_perfetto::live
