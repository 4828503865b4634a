// SPDX-License-Identifier: Apache-2.0
#include "model/clock_ties.h"

#include <cmath>

#include "check.h"

using namespace nvtx_perfetto;

namespace {

int64_t through(const ClockTies& ties, ClockKey from, ClockKey to, int64_t time) {
  int64_t out = 0;
  CHECK(convert(ties.path(from, to), time, out));
  return out;
}

}  // namespace

TEST("clock ties: one point shifts, in both directions") {
  ClockTies ties;
  ties.add_point(7, 3, 100, 1'000'000'000'000'000'000);
  CHECK_EQ(through(ties, 7, 3, 150), 1'000'000'000'000'000'050);
  CHECK_EQ(through(ties, 3, 7, 1'000'000'000'000'000'001), 101);
  CHECK(ties.tied(7, 3) && ties.tied(3, 3));
  CHECK(!ties.tied(7, 4));
}

TEST("clock ties: between points in a straight line, outside them the nearest two go on") {
  ClockTies ties;
  ties.add_point(1, 2, 20, 200);
  ties.add_point(1, 2, 0, 0);
  ties.add_point(1, 2, 10, 50);
  CHECK_EQ(through(ties, 1, 2, 5), 25);
  CHECK_EQ(through(ties, 1, 2, 10), 50);
  CHECK_EQ(through(ties, 1, 2, 15), 125);
  CHECK_EQ(through(ties, 1, 2, -10), -50);
  CHECK_EQ(through(ties, 1, 2, 30), 350);
  CHECK_EQ(through(ties, 2, 1, 125), 15);
  CHECK_EQ(ties.path(1, 2)[0].residual(), 50u);
}

TEST("clock ties: times near 2^63 convert exactly, and what leaves 64 bits is refused") {
  ClockTies ties;
  int64_t far = INT64_MAX - 1000;
  ties.add_point(1, 2, far, far - 1);
  ties.add_point(1, 2, far + 500, far + 499);
  CHECK_EQ(through(ties, 1, 2, far + 333), far + 332);
  int64_t out;
  ties.add_point(1, 3, 0, INT64_MAX);
  CHECK(!convert(ties.path(1, 3), 1, out));
  ties.add_point(4, 5, INT64_MIN, INT64_MIN);
  ties.add_point(4, 5, INT64_MIN + 1, INT64_MAX);
  CHECK(!convert(ties.path(4, 5), INT64_MAX, out));
}

TEST("clock ties: a factor keeps the slope's every bit over long times") {
  ClockTies ties;
  double slope = 1 + std::ldexp(1, -52);
  ties.add_factor(1, 2, slope, 10, 20);
  CHECK_EQ(through(ties, 1, 2, 10 + (int64_t{1} << 52)), 20 + (int64_t{1} << 52) + 1);
  CHECK_EQ(through(ties, 1, 2, 10), 20);
  ties.add_factor(1, 3, 0.5, 0, 0);
  CHECK_EQ(through(ties, 1, 3, 3), 2);
  CHECK_EQ(through(ties, 3, 1, 3), 6);
  ties.add_factor(1, 4, 1e18, 0, 0);
  int64_t out;
  CHECK_EQ(through(ties, 1, 4, 0), 0);
  CHECK(!convert(ties.path(1, 4), 1'000'000, out));
  ties.add_factor(1, 5, 1e-300, 0, 7);
  CHECK_EQ(through(ties, 1, 5, INT64_MAX), 7);
}

TEST("clock ties: clocks tied through others find the shortest way") {
  ClockTies ties;
  ties.add_point(1, 2, 0, 100);
  ties.add_point(2, 3, 0, 1000);
  ties.add_point(3, 4, 0, 10'000);
  CHECK_EQ(ties.path(1, 4).size(), 3u);
  CHECK_EQ(through(ties, 1, 4, 5), 11'105);
  CHECK_EQ(through(ties, 4, 1, 11'105), 5);
  CHECK(ties.any(3));
  CHECK(!ties.any(9));
}

TEST("clock ties: points on which time stands still or runs back are passed over and counted") {
  ClockTies ties;
  ties.add_point(1, 2, 0, 0);
  ties.add_point(1, 2, 10, 10);
  ties.add_point(1, 2, 20, 5);
  ties.add_point(1, 2, 10, 10);
  ties.add_point(1, 1, 5, 9);
  CHECK_EQ(through(ties, 1, 2, 30), 30);
  CHECK_EQ(ties.bad_points(), 1u);
}
