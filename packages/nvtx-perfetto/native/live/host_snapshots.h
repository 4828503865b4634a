// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvtx_perfetto::live {

// The clock snapshots of traces that are joined. The engine refuses snapshots whose clocks
// go back, and knows one MONOTONIC and one BOOTTIME only, whatever hosts the traces are from.
// So they are taken out, put in order, and left out where they would mix hosts up.
class HostSnapshots {
 public:
  // What a packet's snapshot is to a join.
  enum class Kind { kHeader, kHost, kSequence };
  static Kind kind_of(std::string_view snapshot);

  // All snapshots of all inputs, one input after the other.
  void add(size_t input, std::string_view snapshot);
  // The host snapshots to write, in order; `problem` says why there is no right choice.
  std::vector<std::string_view> chosen(std::string& problem) const;
  // The clock that an input names as its trace's; 0: none.
  uint64_t primary(size_t input) const {
    return input < inputs_.size() ? inputs_[input].primary : 0;
  }
  // False when two inputs are sure to be of different hosts.
  bool may_match(size_t a, size_t b) const;

 private:
  static constexpr int kClocks = 7;  // ids of the built-in clocks are below
  struct Snapshot {
    std::string_view bytes;
    uint64_t times[kClocks] = {};
    size_t input = 0;
    int64_t offset() const;
  };
  struct Input {
    uint64_t primary = 0;
    bool other_clocks = false;  // has events that are not on REALTIME
  };
  bool same_host(const std::vector<Snapshot>& snapshots) const;

  std::vector<Input> inputs_;
  std::vector<Snapshot> host_;
};

}  // namespace nvtx_perfetto::live
