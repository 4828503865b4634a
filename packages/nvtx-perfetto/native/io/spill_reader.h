// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "io/record.h"
#include "io/spill_format.h"

namespace nvtx_perfetto {

// The spill file of a session whose process died. Whatever bytes it holds, nothing beyond them
// is read.
class SpillReader {
 public:
  SpillReader() = default;
  ~SpillReader();
  SpillReader(const SpillReader&) = delete;
  SpillReader& operator=(const SpillReader&) = delete;

  enum class Found {
    kDead,        // to be read; nobody else does so meanwhile
    kAlive,       // its session goes on, or somebody else reads it
    kForeign,     // it belongs to another host
    kUnreadable,  // there is none, or none of this version
  };
  // To be called once.
  Found open(const std::string& path);

  // Calls `visit` with every block and its bytes, in their order; bytes of a block that is not
  // whole are not to be trusted.
  template <typename Visit>
  void each_block(const Visit& visit) const {
    size_t at = sizeof(SpillHead);
    SpillBlock block;
    std::string_view bytes;
    while (next_block(at, block, bytes)) visit(block, bytes);
  }
  void remove();
  const std::string& path() const { return path_; }

 private:
  bool next_block(size_t& at, SpillBlock& block, std::string_view& bytes) const;

  std::string path_;
  int fd_ = -1;
  const uint8_t* base_ = nullptr;
  size_t size_ = 0;
};

// The records of a run, as far as they are whole.
class RecordWalk {
 public:
  explicit RecordWalk(std::string_view run) : left_(run) {}
  bool next(Record& record) {
    if (left_.size() < sizeof(RecordHead)) return false;
    std::memcpy(&record.head, left_.data(), sizeof(RecordHead));
    if (left_.size() < record.whole_size()) return false;
    record.bytes = reinterpret_cast<const uint8_t*>(left_.data()) + sizeof(RecordHead);
    left_.remove_prefix(record.whole_size());
    return true;
  }

 private:
  std::string_view left_;
};

}  // namespace nvtx_perfetto
