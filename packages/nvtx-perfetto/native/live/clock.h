// SPDX-License-Identifier: Apache-2.0
// Events are stamped with CLOCK_BOOTTIME, which no one can set, goes on while the
// machine sleeps, and costs what CLOCK_MONOTONIC costs; ranges then never end before they
// begin. They are written as REALTIME by a difference read once a process, which
// forked children inherit, so that all processes of all hosts share one timeline.
#pragma once

#include <cstdint>
#include <ctime>

#include "live/layout.h"

namespace nvtx_perfetto::live {

inline int64_t read_clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline int64_t boottime() { return read_clock(CLOCK_BOOTTIME); }

// `clock` minus BOOTTIME, from the tightest of several readings.
int64_t clock_offset(clockid_t clock);

// All clocks of the machine within a moment, the tightest of several.
ClockReading read_clocks();

}  // namespace nvtx_perfetto::live
