// SPDX-License-Identifier: Apache-2.0
#include "io/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace nvtx_perfetto {
namespace {

int open_nameless(const std::string& folder) {
#ifdef O_TMPFILE
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
#endif
  std::string name = folder + "/.nvtx-perfetto-XXXXXX";
  std::vector<char> path(name.begin(), name.end());
  path.push_back('\0');
  int made = ::mkostemp(path.data(), O_CLOEXEC);
  if (made >= 0) ::unlink(path.data());
  return made;
}

}  // namespace

SpillFile::~SpillFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool SpillFile::open_locked() {
  if (fd_ >= 0) return true;
  fd_ = open_nameless(folder_);
  if (fd_ < 0) {
    const char* temporary = std::getenv("TMPDIR");
    fd_ = open_nameless(temporary && *temporary ? temporary : "/tmp");
  }
  if (fd_ < 0 && error_.empty()) {
    error_ = "making a temporary file for sorting in " + folder_ +
             " failed: " + std::strerror(errno) + "; set TMPDIR to a folder that can be written";
  }
  return fd_ >= 0;
}

int64_t SpillFile::allocate(uint64_t size) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!open_locked()) return -1;
  return end_.fetch_add(static_cast<int64_t>(size));
}

bool SpillFile::write_at(int64_t offset, const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  size_t done = 0;
  while (done < size) {
    ssize_t wrote = ::pwrite(fd_, at + done, size - done, offset + static_cast<int64_t>(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (error_.empty()) {
        error_ = std::string("writing the temporary file for sorting failed: ") +
                 std::strerror(wrote < 0 ? errno : EIO);
      }
      return false;
    }
    done += static_cast<size_t>(wrote);
  }
  return true;
}

bool SpillFile::read(int64_t offset, void* bytes, size_t size) const {
  char* at = static_cast<char*>(bytes);
  size_t done = 0;
  while (done < size) {
    ssize_t got = ::pread(fd_, at + done, size - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

std::string SpillFile::error() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

}  // namespace nvtx_perfetto
