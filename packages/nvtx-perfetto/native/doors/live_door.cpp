// SPDX-License-Identifier: Apache-2.0
// What the Python side of live recording calls: plain C, over ctypes.
#include <cstdint>
#include <string>
#include <vector>

#include "live/recorder.h"
#include "live/recovery.h"
#include "live/trace_join.h"

#define NVTX_PERFETTO_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace live = nvtx_perfetto::live;

std::string& report() {
  static thread_local std::string text;
  return text;
}

void describe(const live::JoinReport& joined) {
  std::string& out = report();
  out = "packets\t" + std::to_string(joined.packets) + "\n";
  for (const auto& cut : joined.cuts) {
    out += "cut\t" + std::to_string(cut.bytes) + "\t" + cut.path + "\n";
  }
  for (const auto& [name, count] : joined.counts) {
    out += "count\t" + std::to_string(count) + "\t" + name + "\n";
  }
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

// 0: joined, and the report has a line each of `packets N`, `cut BYTES PATH`, `count N NAME`, apart
// by tabs. 1: failed, and the report says why.
NVTX_PERFETTO_EXPORT int nvtx_perfetto_join(const char* const* inputs, size_t count,
                                            const char* output, int overwrite) noexcept {
  try {
    live::JoinReport joined;
    report() = live::join_traces({inputs, inputs + count}, output, overwrite != 0, joined);
    if (!report().empty()) return 1;
    describe(joined);
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
