// SPDX-License-Identifier: Apache-2.0
#include "live/clock.h"

namespace nvtx_perfetto::live {

int64_t clock_offset(clockid_t clock) {
  constexpr int kReadings = 16;
  int64_t best = 0;
  int64_t tightest = INT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    int64_t before = boottime();
    int64_t other = read_clock(clock);
    int64_t after = boottime();
    if (after - before < tightest) {
      tightest = after - before;
      best = other - (before + (after - before) / 2);
    }
  }
  return best;
}

}  // namespace nvtx_perfetto::live
