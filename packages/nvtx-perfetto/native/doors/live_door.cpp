// SPDX-License-Identifier: Apache-2.0
// What the Python side of live recording calls: plain C, over ctypes.
#include <cstdint>
#include <string>
#include <vector>

#include "doors/session_join.h"
#include "live/recorder.h"
#include "live/recovery.h"
#include "live/trace_join.h"

#define NVTX_PERFETTO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace live = nvtx_perfetto::live;
using nvtx_perfetto::SessionJoin;

std::string& report() {
  static thread_local std::string text;
  return text;
}

void add_line(const char* kind, uint64_t number, const std::string& text) {
  report() += std::string(kind) + "\t" + std::to_string(number) + "\t" + text + "\n";
}

void describe(const live::JoinReport& joined, const SessionJoin& sessions) {
  report() = "packets\t" + std::to_string(joined.packets) + "\n";
  for (const auto& cut : joined.cuts) add_line("cut", cut.bytes, cut.path);
  for (const auto& [name, count] : joined.counts) add_line("count", count, name);
  for (const auto& one : sessions.recovered()) add_line("recovered", one.rows, one.spill);
  for (const std::string& spill : sessions.living()) add_line("living", 0, spill);
  for (const std::string& why : sessions.left_alone()) add_line("left", 0, why);
}

}  // namespace

// What the last recover or join of this thread had to say; good until its next.
NVTX_PERFETTO_EXPORT const char* nvtx_perfetto_report() noexcept { return report().c_str(); }

// 0: drained; 1: its process lives; 2: another host's; 3: failed. The report says why.
NVTX_PERFETTO_EXPORT int nvtx_perfetto_recover(const char* live_path) noexcept {
  try {
    report().clear();
    return static_cast<int>(live::recover(live_path, report()));
  } catch (...) {
    return static_cast<int>(live::Recovered::kFailed);
  }
}

// Joins traces, and what killed writer sessions left beside them. 0: joined, and the report has
// a line each of `packets N`, `cut BYTES PATH`, `count N NAME`, `recovered ROWS SPILL`, `living 0
// SPILL`, `left 0 WHY`, apart by tabs. 1: failed, and the report says why.
NVTX_PERFETTO_EXPORT int nvtx_perfetto_join(const char* const* inputs, size_t count,
                                            const char* output, int overwrite) noexcept {
  try {
    live::JoinReport joined;
    SessionJoin sessions(output);
    report() = sessions.find({inputs, inputs + count});
    if (report().empty()) {
      report() = live::join_traces(sessions.inputs(), output, overwrite != 0, joined);
    }
    if (!report().empty()) return 1;
    sessions.remove_spills();
    describe(joined, sessions);
    return 0;
  } catch (...) {
    return 1;
  }
}

// 1: all recorded events are in the part; 0: it cannot be written; -1: nothing is recorded.
NVTX_PERFETTO_EXPORT int nvtx_perfetto_flush() noexcept {
  try {
    live::Recorder* recorder = live::Recorder::existing();
    return recorder ? recorder->flush_now() : -1;
  } catch (...) {
    return 0;
  }
}

// Fills in threads, events, samples, dropped, buffer bytes and part bytes. 0: nothing is recorded.
NVTX_PERFETTO_EXPORT int nvtx_perfetto_stats(uint64_t* six) noexcept {
  try {
    live::Recorder* recorder = live::Recorder::existing();
    live::Stats stats;
    if (!recorder || !recorder->stats(stats)) return 0;
    const uint64_t all[] = {stats.threads, stats.events,       stats.samples,
                            stats.dropped, stats.buffer_bytes, stats.part_bytes};
    for (uint64_t one : all) *six++ = one;
    return 1;
  } catch (...) {
    return 0;
  }
}
