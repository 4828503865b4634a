// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nvtx_perfetto::live {

struct JoinReport {
  struct Cut {
    std::string path;
    uint64_t bytes;  // behind the last whole packet
  };
  uint64_t packets = 0;
  std::vector<Cut> cuts;
  std::map<std::string, uint64_t> counts;  // all summaries, added up
};

// A trace, and how many of its bytes count.
struct JoinInput {
  JoinInput(std::string trace, uint64_t bytes = UINT64_MAX)
      : path(std::move(trace)), limit(bytes) {}
  std::string path;
  uint64_t limit;
};

// Puts traces into one: each gets packet sequence ids of its own, and what follows its last whole
// packet is left out. Parts, writer traces and earlier joins alike.
//
// The output appears whole or not at all. Returns what went wrong, or nothing.
std::string join_traces(const std::vector<JoinInput>& inputs, const std::string& output,
                        bool overwrite, JoinReport& report);

}  // namespace nvtx_perfetto::live
