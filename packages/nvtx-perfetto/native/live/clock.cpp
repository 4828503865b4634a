// SPDX-License-Identifier: Apache-2.0
#include "live/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nvtx_perfetto::live {
namespace {

// What NVTX_TIMESTAMP_TYPE_CPU_TSC counts: RDTSC on x86, CNTVCT on ARM.
int64_t processor_ticks() {
#if defined(__x86_64__)
  return static_cast<int64_t>(__rdtsc());
#elif defined(__aarch64__)
  int64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

constexpr int kReadings = 16;

}  // namespace

int64_t clock_offset(clockid_t clock) {
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

ClockReading read_clocks() {
  ClockReading best = {};
  int64_t tightest = INT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    ClockReading one;
    int64_t before = boottime();
    one.monotonic = read_clock(CLOCK_MONOTONIC);
    one.ticks = processor_ticks();
    one.monotonic_raw = read_clock(CLOCK_MONOTONIC_RAW);
    int64_t after = boottime();
    one.boottime = before + (after - before) / 2;
    if (after - before < tightest) {
      tightest = after - before;
      best = one;
    }
  }
  return best;
}

}  // namespace nvtx_perfetto::live
