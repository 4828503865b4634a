// SPDX-License-Identifier: Apache-2.0
#include "io/spill_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "io/host.h"

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

int open_new(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  // Whoever looks whether this file is a dead session's holds the lock for a moment.
  while (fd >= 0 && ::flock(fd, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    ::unlink(path.c_str());
    ::close(fd);
    return -1;
  }
  return fd;
}

uint64_t padded(uint64_t size) { return (size + 7) & ~uint64_t{7}; }

SpillHead head_of_process() {
  SpillHead head = {};
  std::memcpy(head.magic, kSpillMagic, sizeof(head.magic));
  std::snprintf(head.boot_id, sizeof(head.boot_id), "%s", boot_id().c_str());
  std::snprintf(head.host, sizeof(head.host), "%s", host_name().c_str());
  head.pid = static_cast<uint64_t>(::getpid());
  return head;
}

}  // namespace

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

void SpillFile::name_after(const std::string& output) {
  output_ = output;
  named_.store(true, std::memory_order_relaxed);
}

void SpillFile::stop_naming() {
  std::lock_guard<std::mutex> lock(mutex_);
  output_.clear();
  named_.store(false, std::memory_order_relaxed);
}

bool SpillFile::open_named() {
  if (output_.empty()) return false;
  char ending[48];
  std::snprintf(ending, sizeof(ending), ".%d.%08x%s", ::getpid(), std::random_device()(),
                kSpillSuffix);
  fd_ = open_new(output_ + ending);
  if (fd_ >= 0) path_ = output_ + ending;
  return fd_ >= 0;
}

bool SpillFile::open_locked() {
  if (fd_ >= 0) return true;
  if (!open_named()) {
    named_.store(false, std::memory_order_relaxed);
    fd_ = open_nameless(folder_);
    if (fd_ < 0) {
      const char* temporary = std::getenv("TMPDIR");
      fd_ = open_nameless(temporary && *temporary ? temporary : "/tmp");
    }
  }
  if (fd_ < 0) {
    if (error_.empty()) {
      error_ = "making a temporary file for sorting in " + folder_ +
               " failed: " + std::strerror(errno) + "; set TMPDIR to a folder that can be written";
    }
    return false;
  }
  SpillHead head = head_of_process();
  if (!write_locked(0, &head, sizeof(head))) return false;
  end_.store(sizeof(head), std::memory_order_relaxed);
  return true;
}

int64_t SpillFile::allocate(uint64_t size, const SpillLabel& label, uint64_t records) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!open_locked() || !made()) return -1;
  SpillKind kind = named() ? label.kind : SpillKind::kScratch;
  SpillBlock block = {SpillBlock::kMagic,
                      static_cast<uint32_t>(kind),
                      label.stream,
                      0,
                      label.subject,
                      size,
                      records};
  int64_t at = end_.load(std::memory_order_relaxed);
  // Without its head, nothing behind a block could be found.
  if (!write_locked(at, &block, sizeof(block))) return -1;
  int64_t bytes = at + static_cast<int64_t>(sizeof(block));
  end_.store(bytes + static_cast<int64_t>(padded(size)), std::memory_order_relaxed);
  return bytes;
}

bool SpillFile::finish(int64_t offset) {
  constexpr uint32_t kWhole = 1;
  constexpr auto kBack = static_cast<int64_t>(sizeof(SpillBlock) - offsetof(SpillBlock, whole));
  return write_at(offset - kBack, &kWhole, sizeof(kWhole));
}

bool SpillFile::write_at(int64_t offset, const void* bytes, size_t size) {
  if (write_bytes(offset, bytes, size)) return true;
  int error = errno;
  std::lock_guard<std::mutex> lock(mutex_);
  note_error(error);
  return false;
}

bool SpillFile::write_locked(int64_t offset, const void* bytes, size_t size) {
  bool good = write_bytes(offset, bytes, size);
  if (!good) note_error(errno);
  return good;
}

void SpillFile::note_error(int error) {
  if (!error_.empty()) return;
  error_ = std::string("writing the temporary file for sorting failed: ") + std::strerror(error);
}

bool SpillFile::write_bytes(int64_t offset, const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  size_t done = 0;
  while (done < size) {
    ssize_t wrote = ::pwrite(fd_, at + done, size - done, offset + static_cast<int64_t>(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      if (wrote == 0) errno = EIO;
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

void SpillFile::remove() noexcept {
  if (fd_ < 0) return;
  if (!path_.empty()) ::unlink(path_.c_str());
  // A forked child shares the lock, and would keep it beyond this file's life.
  if (!path_.empty()) ::flock(fd_, LOCK_UN);
  ::close(fd_);
  fd_ = -1;
}

std::string SpillFile::error() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

}  // namespace nvtx_perfetto
