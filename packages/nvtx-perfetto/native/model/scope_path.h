// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nvtx_perfetto {

// One node of an NVTX scope path: `name`, `name[key]`, or `name[key] rest`. The last form
// is ours: `process[42] python train.py` and `thread[43] MainThread` say what a node is called.
struct ScopeNode {
  std::string name;
  std::string key;
  std::string rest;
  bool keyed = false;

  // As shown: `name`, `name[key]`.
  std::string text() const;
};

// Splits at `/`; leading and doubled slashes count for nothing; `\` escapes `/`, `[`, `]` and
// itself.
std::vector<ScopeNode> parse_scope_path(const char* path);

// The key as a decimal number from 1 to `most`; 0 when it is none.
int64_t numeric_key(const ScopeNode& node, int64_t most);

}  // namespace nvtx_perfetto
