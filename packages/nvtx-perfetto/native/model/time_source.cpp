// SPDX-License-Identifier: Apache-2.0
#include "model/time_source.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <ctime>
#include <numeric>

namespace nvtx_perfetto {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr __int128 kWideSecond = kSecond;
constexpr ClockKey kTypeKeys = 256;

// Epochs as nanoseconds of the Unix epoch. TAI ran 37 s ahead of UTC and GPS 18 s when this
// was written (since 2017-01-01, IERS Bulletin C 52); std::chrono::utc_clock counts 27 leap
// seconds. The first is beyond int64.
constexpr __int128 kFiletimeEpoch = -11'644'473'600 * kWideSecond;  // 1601-01-01
constexpr int64_t kTaiEpoch = -378'691'200 * kSecond;               // 1958-01-01
constexpr int64_t kGpsEpoch = 315'964'800 * kSecond;                // 1980-01-06
constexpr int64_t kTaiAhead = 37 * kSecond;
constexpr int64_t kGpsAhead = 18 * kSecond;
constexpr int64_t kUtcLeaps = 27 * kSecond;
constexpr int64_t kFileClockEpoch = 6'437'664'000 * kSecond;  // 2174-01-01 (libstdc++)

constexpr TimeSource on(PerfettoClock clock, int64_t numerator = 1, int64_t denominator = 1,
                        __int128 offset = 0) {
  return {static_cast<ClockKey>(clock), numerator, denominator, offset};
}

constexpr TimeSource own_clock(uint64_t type, int64_t numerator = 1, int64_t denominator = 1) {
  return {kTypeKeys + type, numerator, denominator, 0};
}

}  // namespace

ClockKey builtin_key(PerfettoClock clock) { return static_cast<ClockKey>(clock); }

std::optional<PerfettoClock> builtin_of(ClockKey key) {
  switch (key) {
    case kRealtime:
    case kMonotonic:
    case kMonotonicRaw:
    case kBoottime: return static_cast<PerfettoClock>(key);
    default: return std::nullopt;
  }
}

__int128 divide_to_nearest(__int128 numerator, __int128 denominator) {
  if (denominator < 0) numerator = -numerator, denominator = -denominator;
  __int128 quotient = numerator / denominator;
  __int128 rest = numerator % denominator;
  if (rest < 0) --quotient, rest += denominator;
  __int128 twice = rest * 2;
  if (twice > denominator || (twice == denominator && (quotient & 1))) ++quotient;
  return quotient;
}

bool TimeSource::convert(int64_t ticks, int64_t& nanoseconds) const {
  if (identity()) {
    nanoseconds = ticks;
    return true;
  }
  __int128 value = divide_to_nearest(static_cast<__int128>(ticks) * numerator, denominator);
  value += offset;
  nanoseconds = static_cast<int64_t>(value);
  return value >= INT64_MIN && value <= INT64_MAX;
}

std::optional<TimeSource> predefined_source(uint64_t type) {
  switch (type) {
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME:
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME_COARSE:
    case NVTX_TIMESTAMP_TYPE_C_TIMESPEC_GET:
    case NVTX_TIMESTAMP_TYPE_CPP_SYSTEM_CLOCK: return on(kRealtime);
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC:
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_COARSE:
    case NVTX_TIMESTAMP_TYPE_CPP_STEADY_CLOCK:
    case NVTX_TIMESTAMP_TYPE_CPP_HIGH_RESOLUTION_CLOCK: return on(kMonotonic);
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_RAW: return on(kMonotonicRaw);
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_BOOTTIME: return on(kBoottime);
    case NVTX_TIMESTAMP_TYPE_WIN_GSTAFT:
    case NVTX_TIMESTAMP_TYPE_WIN_GSTAFTP: return on(kRealtime, 100, 1, kFiletimeEpoch);
    case NVTX_TIMESTAMP_TYPE_C_TIME: return on(kRealtime, kSecond);
    case NVTX_TIMESTAMP_TYPE_CPP_UTC_CLOCK: return on(kRealtime, 1, 1, -kUtcLeaps);
    case NVTX_TIMESTAMP_TYPE_CPP_TAI_CLOCK: return on(kRealtime, 1, 1, kTaiEpoch - kTaiAhead);
    case NVTX_TIMESTAMP_TYPE_CPP_GPS_CLOCK: return on(kRealtime, 1, 1, kGpsEpoch - kGpsAhead);
    case NVTX_TIMESTAMP_TYPE_CPP_FILE_CLOCK: return on(kRealtime, 1, 1, kFileClockEpoch);
    case NVTX_TIMESTAMP_TYPE_C_CLOCK: return own_clock(type, kSecond / CLOCKS_PER_SEC);
    // The tool's own clock: what nvtxTimestampGet answers.
    case NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED: return on(kRealtime);
    case NVTX_TIMESTAMP_TYPE_NONE:
    case NVTX_TIMESTAMP_TYPE_CPU_TSC:
    case NVTX_TIMESTAMP_TYPE_CPU_TSC_NONVIRTUALIZED:
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_PROCESS_CPUTIME_ID:
    case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_THREAD_CPUTIME_ID:
    case NVTX_TIMESTAMP_TYPE_WIN_QPC:
    case NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER: return own_clock(type);
    default: return std::nullopt;
  }
}

TimeSource domain_source(const TimeDomain& domain, ClockKey own) {
  TimeSource source{own, 1, 1, 0};
  auto known = predefined_source(domain.timestamp_type);
  if (known && builtin_of(known->key)) source = *known;
  switch (domain.start) {
    case NVTX_TIMER_START_UNIX_EPOCH: source.key = builtin_key(kRealtime), source.offset = 0; break;
    case NVTX_TIMER_START_WIN_FILETIME:
      source.key = builtin_key(kRealtime), source.offset = kFiletimeEpoch;
      break;
    case NVTX_TIMER_START_SYSTEM_BOOT:
      source.offset = 0;
      if (source.key != builtin_key(kMonotonic) && source.key != builtin_key(kMonotonicRaw)) {
        source.key = builtin_key(kBoottime);
      }
      break;
    default: break;
  }
  if (domain.resolution > 0) {
    int64_t common = std::gcd(kSecond, domain.resolution);
    source.numerator = kSecond / common;
    source.denominator = domain.resolution / common;
  }
  return source;
}

}  // namespace nvtx_perfetto
