// SPDX-License-Identifier: Apache-2.0
#include "live/live_file.h"

#include <fcntl.h>
#include <sys/file.h>
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

// One write makes one large page of the file's cache and finds its blocks once; first touches
// through the mapping do so for every small page, which takes five times as long on ext4. What is
// written was zero already, so a write that fails costs time alone.
void write_zeros(int fd, size_t offset) {
  static uint8_t zeros[kChunkSize];  // never touched, so the one page of zeros that all share
  ssize_t ignored = ::pwrite(fd, zeros, sizeof(zeros), static_cast<off_t>(offset));
  (void)ignored;
}

// A first touch of every page now rather than inside an NVTX call.
void touch(uint8_t* at, size_t size) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(at, size, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (size_t offset = 0; offset < size; offset += kPage) {
    auto* byte = reinterpret_cast<volatile uint8_t*>(at + offset);
    *byte = *byte;
  }
}

}  // namespace

std::string LiveFile::create(const std::string& path, uint32_t chunk_limit) {
  path_ = path;
  limit_ = chunk_limit;
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) return failure("creating", path, errno);
  // Another process may be looking whether this file is a dead one's; it will not take long.
  while (::flock(fd_, LOCK_EX) != 0) {
    if (errno != EINTR) return failure("locking", path, errno);
  }
  std::string problem = reserve(0, kChunksStart);
  if (!problem.empty()) {
    ::unlink(path.c_str());
    return problem;
  }
  mapped_ = kChunksStart + size_t{chunk_limit} * kChunkSize;
  // The mapping reaches beyond the file's end; extend() moves the end before anything is touched.
  void* base = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (base == MAP_FAILED) {
    ::unlink(path.c_str());
    return failure("mapping", path, errno);
  }
  base_ = static_cast<uint8_t*>(base);
  ::madvise(base_, mapped_, MADV_DONTFORK);
  std::memcpy(header().magic, kMagic, sizeof(kMagic));
  header().version = kLayoutVersion;
  header().chunk_limit = chunk_limit;
  return {};
}

LiveFile::Found LiveFile::open(const std::string& path) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat found;
  if (fd_ < 0 || ::fstat(fd_, &found) != 0 || !S_ISREG(found.st_mode)) return Found::kUnreadable;
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) return Found::kAlive;
  auto size = static_cast<size_t>(found.st_size);
  if (size < kChunksStart) return Found::kUnreadable;
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (base == MAP_FAILED) return Found::kUnreadable;
  base_ = static_cast<uint8_t*>(base);
  mapped_ = size;
  const FileHeader& head = header();
  if (std::memcmp(head.magic, kMagic, sizeof(kMagic)) != 0 || head.version != kLayoutVersion ||
      head.active.load() > 1) {
    return Found::kUnreadable;
  }
  limit_ = chunks_ = static_cast<uint32_t>((size - kChunksStart) / kChunkSize);
  bool here = is_this_machine({head.boot_id, sizeof(head.boot_id)}, {head.host, sizeof(head.host)});
  return here ? Found::kDead : Found::kForeign;
}

std::string LiveFile::reserve(size_t offset, size_t size) {
  int error = ::posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(size));
  return error == 0 ? std::string() : failure("reserving space in", path_, error);
}

int64_t LiveFile::extend() {
  uint32_t index = chunks_.load(std::memory_order_relaxed);
  if (index >= limit_) return -1;
  size_t offset = kChunksStart + size_t{index} * kChunkSize;
  if (!reserve(offset, kChunkSize).empty()) return -1;
  write_zeros(fd_, offset);
  chunks_.store(index + 1, std::memory_order_relaxed);
  return index;
}

void LiveFile::populate(uint32_t index) { touch(chunk(index), kChunkSize); }

void LiveFile::abandon_in_child() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  base_ = nullptr;
}

void LiveFile::remove() { ::unlink(path_.c_str()); }

void LiveFile::unmap() {
  if (base_) ::munmap(base_, mapped_);
  if (fd_ >= 0) ::close(fd_);
  base_ = nullptr;
  fd_ = -1;
}

}  // namespace nvtx_perfetto::live
