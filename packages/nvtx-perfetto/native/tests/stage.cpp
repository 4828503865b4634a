// SPDX-License-Identifier: Apache-2.0
#include "stage.h"

#include <algorithm>

namespace stage {

std::map<std::string, Slice> slices(const packets::Trace& trace) {
  std::vector<packets::Event> events = trace.events;
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  std::map<uint64_t, std::vector<std::string>> open;
  std::map<std::string, Slice> found;
  for (const auto& event : events) {
    auto& stack = open[event.track];
    if (event.type == 2) {
      if (stack.empty()) throw std::runtime_error("an end without a begin");
      found[stack.back()].end = event.time;
      stack.pop_back();
    } else if (event.type == 1 || event.type == 3) {
      Slice slice{event.time, event.type == 3 ? event.time : -1, event.track, event.name,
                  stack.empty() ? "" : stack.back()};
      if (!found.emplace(event.name, slice).second) throw std::runtime_error("a name came twice");
      if (event.type == 1) stack.push_back(event.name);
    }
  }
  return found;
}

}  // namespace stage
