// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/byte_buffer.h"
#include "live/wire_reader.h"

namespace nvtx_perfetto::live {

// Processes and threads that several traces describe. The engine takes two track ids of one process
// id for two processes, so those that are one get one id when traces are joined: what an
// exec went on with, and what was replayed beside a live recording.
class ProcessMerge {
 public:
  // A track descriptor of an input.
  void add(size_t input, std::string_view descriptor);
  // An input with ranges that nothing ended. What came after an exec would lie inside them, so
  // its threads stay apart.
  void note_left_open(size_t input) { left_open_.push_back(input); }
  // `may_match`: whether two inputs can be of one host.
  void settle(const std::function<bool(size_t, size_t)>& may_match);

  bool empty() const { return ids_.empty(); }
  // One field of a packet, with the ids of the tracks changed.
  void append(ByteBuffer& packet, const WireField& field) const;

 private:
  struct Described {
    size_t input;
    uint64_t uuid;
    uint64_t pid;
    uint64_t tid;
    int64_t start;  // of the process, REALTIME ns; 0: unknown
  };
  using MayMatch = std::function<bool(size_t, size_t)>;

  void settle_processes(const MayMatch& may_match);
  void settle_threads();
  void settle_thread(const std::vector<const Described*>& same);
  bool is_live(size_t input) const;
  uint64_t id_of(uint64_t uuid) const;
  void append_message(ByteBuffer& out, uint32_t number, std::string_view bytes,
                      const std::vector<uint32_t>& id_fields) const;

  std::vector<Described> processes_;
  std::vector<Described> threads_;
  std::vector<size_t> left_open_;
  std::unordered_map<uint64_t, uint64_t> ids_;
};

}  // namespace nvtx_perfetto::live
