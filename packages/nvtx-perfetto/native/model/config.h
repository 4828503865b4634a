// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nvtx_perfetto {

// What a session's configuration string says. Entries are `key=value`, apart by newlines or
// `|`; `#` starts a comment line; the first entry of a key counts; unknown keys are ignored,
// since other backends have theirs.
struct SessionConfig {
  std::string output;  // default: the session's name, made a file name
  bool overwrite = false;
  int64_t time_offset = 0;        // ns, added to every timestamp
  bool host_snapshot = false;     // clock_snapshot=host
  bool unrelated_clocks = false;  // unrelated_clocks=allow
  uint64_t max_size = 0;          // bytes; 0: no limit
  uint64_t memory = 256 << 20;    // bytes for sorting
  // Empty, or what is wrong with a value and what it should be.
  std::string problem;
};

SessionConfig parse_config(const char* text, const std::string& session_name);

}  // namespace nvtx_perfetto
