// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "payload/schema.h"

namespace nvtx_perfetto {

// A number inside a counter's sample: a track of its own.
struct CounterPlace {
  std::string name;
  const SchemaEntry* entry;
  size_t offset;  // in the sample
};

// The numbers of a counter or counter group but for the entry that is the sample's time (-1:
// none). Groups inside a group go by their path: `group.inner.field`, `group.list[0]`.
std::vector<CounterPlace> counter_places(const Schema& schema, int timestamp,
                                         const std::string& name);

// What a sample's numbers are to be multiplied by: by the engine, if its unit tells it to, and
// by us.
struct CounterScale {
  int64_t multiplier = 1;
  double factor = 1;
  double least = -std::numeric_limits<double>::infinity();  // after the factor
};

// Whether the engine, which holds doubles, rounds a whole number.
inline bool is_rounded(uint64_t magnitude) { return magnitude > uint64_t{1} << 53; }
inline bool is_rounded(int64_t value) {
  auto bits = static_cast<uint64_t>(value);
  return is_rounded(value < 0 ? -bits : bits);
}

CounterScale counter_scale(const CounterSemantics& semantics, const TypeInfo& type);

}  // namespace nvtx_perfetto
