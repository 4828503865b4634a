// SPDX-License-Identifier: Apache-2.0
#include "payload/counter_fields.h"

#include <algorithm>
#include <cmath>

namespace nvtx_perfetto {
namespace {

void add_places(const Schema& schema, int timestamp, size_t base, const std::string& prefix,
                std::vector<CounterPlace>& out) {
  for (size_t i = 0; i < schema.entries.size(); ++i) {
    const SchemaEntry& entry = schema.entries[i];
    bool time = static_cast<int>(i) == timestamp;
    if (time || !(entry.nested || is_countable(entry.value.kind))) continue;
    std::string name = schema.is_wrapper() ? prefix : prefix + "." + entry.name;
    bool array = entry.array == ArrayKind::kFixed;
    for (uint64_t k = 0; k < (array ? entry.count : 1); ++k) {
      size_t offset = base + static_cast<size_t>(std::max<int64_t>(0, entry.offset)) +
                      static_cast<size_t>(k) * entry.element_size();
      std::string full = array ? name + "[" + std::to_string(k) + "]" : name;
      if (entry.nested) {
        add_places(*entry.nested, -1, offset, full, out);
      } else {
        out.push_back({full, &entry, offset});
      }
    }
  }
}

double normalizer(const TypeInfo& type) {
  if (!is_integer(type.kind)) return 1;
  int bits = type.size * 8 - (type.kind == ValueKind::kSigned ? 1 : 0);
  return 1 / (std::ldexp(1.0, bits) - 1);
}

}  // namespace

std::vector<CounterPlace> counter_places(const Schema& schema, int timestamp,
                                         const std::string& name) {
  std::vector<CounterPlace> places;
  add_places(schema, timestamp, 0, name, places);
  return places;
}

CounterScale counter_scale(const CounterSemantics& semantics, const TypeInfo& type) {
  CounterScale scale;
  uint64_t whole = semantics.numerator / semantics.denominator;
  if (semantics.numerator % semantics.denominator == 0 && whole <= INT64_MAX) {
    scale.multiplier = static_cast<int64_t>(whole);
  } else {
    scale.factor =
        static_cast<double>(semantics.numerator) / static_cast<double>(semantics.denominator);
  }
  if (semantics.normalize) {
    // The least signed value is one further from 0 than the greatest.
    scale.least = -scale.factor;
    scale.factor *= normalizer(type);
  }
  return scale;
}

}  // namespace nvtx_perfetto
