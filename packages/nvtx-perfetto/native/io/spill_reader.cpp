// SPDX-License-Identifier: Apache-2.0
#include "io/spill_reader.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "io/host.h"

namespace nvtx_perfetto {

SpillReader::~SpillReader() {
  if (base_) ::munmap(const_cast<uint8_t*>(base_), size_);
  if (fd_ >= 0) ::close(fd_);
}

SpillReader::Found SpillReader::open(const std::string& path) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat found;
  if (fd_ < 0 || ::fstat(fd_, &found) != 0 || !S_ISREG(found.st_mode)) return Found::kUnreadable;
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) return Found::kAlive;
  auto size = static_cast<size_t>(found.st_size);
  if (size < sizeof(SpillHead)) return Found::kUnreadable;
  void* base = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (base == MAP_FAILED) return Found::kUnreadable;
  base_ = static_cast<const uint8_t*>(base);
  size_ = size;
  SpillHead head;
  std::memcpy(&head, base_, sizeof(head));
  if (std::memcmp(head.magic, kSpillMagic, sizeof(kSpillMagic)) != 0) return Found::kUnreadable;
  bool here = is_this_machine({head.boot_id, sizeof(head.boot_id)}, {head.host, sizeof(head.host)});
  return here ? Found::kDead : Found::kForeign;
}

bool SpillReader::next_block(size_t& at, SpillBlock& block, std::string_view& bytes) const {
  if (size_ < at || size_ - at < sizeof(block)) return false;
  std::memcpy(&block, base_ + at, sizeof(block));
  at += sizeof(block);
  if (block.magic != SpillBlock::kMagic) return false;
  size_t left = size_ - at;
  if (block.size > left) {
    // The last block had been given more room than was written.
    block.whole = 0;
    bytes = {};
    at = size_;
    return true;
  }
  bytes = {reinterpret_cast<const char*>(base_ + at), static_cast<size_t>(block.size)};
  at += std::min(left, padded_size(static_cast<size_t>(block.size)));
  return true;
}

void SpillReader::remove() { ::unlink(path_.c_str()); }

}  // namespace nvtx_perfetto
