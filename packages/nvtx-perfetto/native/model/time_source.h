// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "perfetto/header.h"

namespace nvtx_perfetto {

// A time line that timestamps can lie on. Sources of one key need nothing to be compared.
//
// Keys up to 255 are ours; predefined NVTX types without a Perfetto clock have keys of their own
// type number + 256; registered domains that nothing ties by itself have their id.
using ClockKey = uint64_t;
constexpr ClockKey kNoClock = 0;

ClockKey builtin_key(PerfettoClock clock);
std::optional<PerfettoClock> builtin_of(ClockKey key);

// How ticks of a source become nanoseconds of its key's time line:
// (ticks * numerator) / denominator + offset, rounded to nearest, ties to even.
struct TimeSource {
  ClockKey key = kNoClock;
  int64_t numerator = 1;
  int64_t denominator = 1;
  __int128 offset = 0;  // ns; that of 1601 is beyond int64

  bool identity() const { return numerator == 1 && denominator == 1 && offset == 0; }
  // False beyond int64.
  bool convert(int64_t ticks, int64_t& nanoseconds) const;
};

// The source of a predefined NVTX_TIMESTAMP_TYPE_*; nothing for unknown numbers.
std::optional<TimeSource> predefined_source(uint64_t type);

// nvtxTimeDomainAttr_t, taken over.
struct TimeDomain {
  uint64_t id = 0;
  uint64_t timestamp_type = 0;
  int64_t resolution = 0;  // ticks a second; 0: as the type says, else nanoseconds
  uint64_t start = 0;      // NVTX_TIMER_START_*
};

// A registered domain's source: on a known clock when its type or its start says so, on
// one of its own otherwise.
TimeSource domain_source(const TimeDomain& domain, ClockKey own);

// numerator/denominator of 128 bits, rounded to nearest, ties to even.
__int128 divide_to_nearest(__int128 numerator, __int128 denominator);

}  // namespace nvtx_perfetto
