// SPDX-License-Identifier: Apache-2.0
#include "model/time_source.h"

#include <nvtx3/nvToolsExtPayload.h>

#include "check.h"

using namespace nvtx_perfetto;

namespace {

int64_t converted(const TimeSource& source, int64_t ticks) {
  int64_t nanoseconds = 0;
  CHECK(source.convert(ticks, nanoseconds));
  return nanoseconds;
}

}  // namespace

TEST("time source: division rounds to nearest, ties to even, for every pair of signs") {
  auto rounded = [](int64_t a, int64_t b) { return static_cast<int64_t>(divide_to_nearest(a, b)); };
  CHECK_EQ(rounded(5, 2), 2);
  CHECK_EQ(rounded(7, 2), 4);
  CHECK_EQ(rounded(-5, 2), -2);
  CHECK_EQ(rounded(-7, 2), -4);
  CHECK_EQ(rounded(-7, -2), 4);
  CHECK_EQ(rounded(2, 3), 1);
  CHECK_EQ(rounded(-1, 3), 0);
  CHECK_EQ(rounded(-2, 3), -1);
}

TEST("time source: predefined types reach their clocks with unit and epoch") {
  auto source = [](uint64_t type) { return *predefined_source(type); };
  CHECK_EQ(converted(source(NVTX_TIMESTAMP_TYPE_C_TIME), 2), 2'000'000'000);
  // 2000-01-01 as a Windows file time, in 100 ns since 1601.
  CHECK_EQ(converted(source(NVTX_TIMESTAMP_TYPE_WIN_GSTAFT), 125'911'584'000'000'000),
           946'684'800'000'000'000);
  // The TAI clock of 1970 began at 1958-01-01; 37 s ahead of UTC.
  CHECK_EQ(converted(source(NVTX_TIMESTAMP_TYPE_CPP_TAI_CLOCK), 378'691'237'000'000'000), 0);
  CHECK_EQ(converted(source(NVTX_TIMESTAMP_TYPE_CPP_GPS_CLOCK), 18'000'000'000),
           315'964'800'000'000'000);
  CHECK_EQ(source(NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_BOOTTIME).key, builtin_key(kBoottime));
  CHECK(source(NVTX_TIMESTAMP_TYPE_CPU_TSC).key != source(NVTX_TIMESTAMP_TYPE_NONE).key);
  CHECK(!predefined_source(12345));
}

TEST("time source: a resolution scales exactly, and what leaves 64 bits is refused") {
  TimeDomain domain;
  domain.timestamp_type = NVTX_TIMESTAMP_TYPE_CPU_TSC;
  domain.resolution = 3'000'000'000;
  TimeSource source = domain_source(domain, 1000);
  CHECK_EQ(source.key, 1000u);
  CHECK_EQ(converted(source, 9'000'000'000'000'000'003), 3'000'000'000'000'000'001);
  CHECK_EQ(converted(source, INT64_MIN), INT64_MIN / 3 - 1);
  domain.resolution = 1;
  int64_t out;
  CHECK(!domain_source(domain, 1).convert(INT64_MAX, out));
  CHECK(!domain_source(domain, 1).convert(INT64_MIN, out));
  CHECK_EQ(converted(domain_source(domain, 1), -9), -9'000'000'000);
}

TEST("time source: a domain's start puts it on a known clock") {
  TimeDomain domain;
  domain.start = NVTX_TIMER_START_UNIX_EPOCH;
  CHECK_EQ(domain_source(domain, 9).key, builtin_key(kRealtime));
  domain.start = NVTX_TIMER_START_SYSTEM_BOOT;
  CHECK_EQ(domain_source(domain, 9).key, builtin_key(kBoottime));
  domain.timestamp_type = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC;
  CHECK_EQ(domain_source(domain, 9).key, builtin_key(kMonotonic));
  domain.start = NVTX_TIMER_START_WIN_FILETIME;
  domain.resolution = 10'000'000;
  CHECK_EQ(converted(domain_source(domain, 9), 116'444'736'000'000'001), 100);
}
