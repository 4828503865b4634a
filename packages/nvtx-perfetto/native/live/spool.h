// SPDX-License-Identifier: Apache-2.0
// Records that wait until the recording ends, in a file of their own beside the part: events and
// samples that bring their times along, what ties those times, and which threads there were. A
// death leaves the file to whoever goes on draining.
//
//   | thread's serial: u64 | thread id: i32 | size: u32 | a record of `size` bytes |
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "io/byte_buffer.h"
#include "live/mapped_file.h"
#include "live/part_file.h"
#include "live/record.h"

namespace nvtx_perfetto::live {

// The thread that recorded something.
struct Origin {
  uint64_t serial;
  int32_t tid;
};

class Spool {
 public:
  // `size`: how much of what is in the file counts.
  Spool(std::string path, uint64_t size) : path_(std::move(path)), size_(size) {}

  // Without a record, only the thread is noted. Written by flush().
  void add(const Origin& origin, const RecordView* record);
  // False when the file could not be written.
  bool flush();
  // Takes back what was added since the spool had this size.
  bool cut(uint64_t size);
  uint64_t size() const { return size_ + pending_.size(); }
  bool empty() const { return size() == 0; }

  // Visits all entries; the records stay good for the spool's life. False when the file
  // cannot be read.
  template <typename Visit>
  bool read(const Visit& visit);

  // What went wrong, while something did.
  const std::string& problem() const { return problem_; }

  void remove();
  void abandon_in_child() { file_.abandon_in_child(); }

 private:
  struct Head {
    uint64_t serial;
    int32_t tid;
    uint32_t size;
  };
  static_assert(sizeof(Head) == 16);
  bool open();
  bool map();

  const std::string path_;
  uint64_t size_;  // written and good
  std::string problem_;
  bool open_ = false;
  PartFile file_;
  ByteBuffer pending_;
  MappedFile mapped_;
  bool is_mapped_ = false;
};

template <typename Visit>
bool Spool::read(const Visit& visit) {
  if (!map()) return false;
  const auto* at = reinterpret_cast<const uint8_t*>(mapped_.bytes().data());
  const uint8_t* end = at + size_;
  while (static_cast<size_t>(end - at) >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    if (head.size > static_cast<size_t>(end - at)) return false;
    RecordView record;
    bool there = head.size != 0;
    if (there && !parse_record(at, at + head.size, record)) return false;
    visit(Origin{head.serial, head.tid}, there ? &record : nullptr);
    at += head.size;
  }
  return at == end;
}

}  // namespace nvtx_perfetto::live
