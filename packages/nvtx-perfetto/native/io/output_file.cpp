// SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nvtx_perfetto {
namespace {

std::string describe(const std::string& doing, const std::string& path, int error) {
  return doing + " " + path + " failed: " + std::strerror(error);
}

}  // namespace

OutputFile::~OutputFile() { close(); }

std::string OutputFile::open(const std::string& path, const Options& options) {
  path_ = path;
  max_size_ = options.max_size;
  struct stat found;
  bool exists = ::stat(path.c_str(), &found) == 0;
  bool device = exists && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
  if (exists && !device && !options.overwrite) {
    return "the output " + path + " exists already; choose another output or set overwrite=1";
  }
  int flags = O_WRONLY | O_CLOEXEC | (device ? 0 : O_CREAT) | (exists ? 0 : O_EXCL);
  do {
    fd_ = ::open(path.c_str(), flags, 0666);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) {
    return describe("opening the output", path, errno) +
           "; check that its folder exists and can be written";
  }
  return device ? std::string() : lock_and_clear(options);
}

std::string OutputFile::lock_and_clear(const Options&) {
  // The lock comes before the cut, so that a file in use elsewhere keeps its content.
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    int error = errno;
    ::close(fd_);
    fd_ = -1;
    return "the output " + path_ + " is being written by another session (" + std::strerror(error) +
           "); end that one or choose another output";
  }
  if (::ftruncate(fd_, 0) != 0) {
    int error = errno;
    ::close(fd_);
    fd_ = -1;
    return describe("emptying the output", path_, error);
  }
  seekable_ = true;
  return {};
}

bool OutputFile::append(const void* packets, size_t size) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (fd_ < 0 || failed_.load(std::memory_order_relaxed)) return false;
  uint64_t good = size_.load(std::memory_order_relaxed);
  const char* at = static_cast<const char*>(packets);
  size_t left = size;
  while (left > 0) {
    ssize_t done = ::write(fd_, at, left);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      fail(done < 0 ? errno : EIO, "writing");
      if (seekable_ && ::ftruncate(fd_, static_cast<off_t>(good)) != 0) seekable_ = false;
      return false;
    }
    at += done;
    left -= static_cast<size_t>(done);
  }
  size_.store(good + size, std::memory_order_relaxed);
  if (max_size_ != 0 && good + size >= max_size_) full_.store(true, std::memory_order_relaxed);
  return true;
}

bool OutputFile::patch_start(const void* bytes, size_t size) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (fd_ < 0 || !seekable_ || size > size_.load(std::memory_order_relaxed)) return false;
  return ::pwrite(fd_, bytes, size, 0) == static_cast<ssize_t>(size);
}

std::string OutputFile::close() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (fd_ >= 0) {
    struct stat found;
    if (seekable_ && ::fstat(fd_, &found) == 0 && found.st_nlink == 0) {
      failed_.store(true, std::memory_order_relaxed);
      if (error_.empty()) error_ = "the output " + path_ + " was deleted while it was written";
    }
    // A forked child shares the lock, and would keep it beyond this file's life.
    if (seekable_) ::flock(fd_, LOCK_UN);
    // Some file systems (NFS, quotas) report a lost write only here.
    if (::close(fd_) != 0 && errno != EINTR) fail(errno, "closing");
    fd_ = -1;
  }
  return error_;
}

void OutputFile::fail(int error, const char* doing) noexcept {
  failed_.store(true, std::memory_order_relaxed);
  try {
    if (error_.empty()) error_ = describe(doing, path_, error);
  } catch (...) {  // out of memory: the flag alone tells
  }
}

}  // namespace nvtx_perfetto
