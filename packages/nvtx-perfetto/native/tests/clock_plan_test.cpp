// SPDX-License-Identifier: Apache-2.0
#include "model/clock_plan.h"

#include "check.h"

using namespace nvtx_perfetto;
using Verdict = ClockPlan::Verdict;

namespace {

constexpr ClockKey kReal = kRealtime;
constexpr ClockKey kMono = kMonotonic;
constexpr ClockKey kOwn = uint64_t{7} << 32;

TimeSource on(ClockKey key) { return {key, 1, 1, 0}; }

struct Plan {
  explicit Plan(ClockPlan::Rules rules = {}) : clocks(rules, summary) {}
  Verdict admit(ClockKey key, bool own = false) { return clocks.admit(key, own, problem); }
  int64_t place(ClockKey key, int64_t ticks) {
    int64_t time = -1;
    return clocks.place(on(key), ticks, clocks.trace_clock(), time) ? time : -1;
  }
  Summary summary;
  ClockPlan clocks;
  std::string problem;
};

}  // namespace

TEST("clock plan: the first clock is the trace's, and one that nothing ties is refused") {
  Plan plan;
  CHECK(plan.admit(kMono) == Verdict::kDirect);
  CHECK(plan.admit(kMono) == Verdict::kDirect);
  CHECK(plan.admit(kReal) == Verdict::kRefused);
  CHECK(plan.problem.find("REALTIME") != std::string::npos);
  CHECK(plan.problem.find("clock_snapshot=host") != std::string::npos);
  CHECK_EQ(plan.clocks.trace_clock(), kMono);
}

TEST("clock plan: a snapshot of the host ties its clocks, and REALTIME leads") {
  Plan plan({true, false, 0});
  CHECK(plan.admit(kMono) == Verdict::kDirect);
  CHECK(plan.admit(kReal) == Verdict::kDirect);
  CHECK_EQ(plan.clocks.trace_clock(), kReal);
  CHECK(plan.admit(256 + 3) == Verdict::kRefused);
}

TEST("clock plan: a sync point lets the second clock wait until the end") {
  Plan plan;
  plan.clocks.add_point(kReal, kMono, 1000, 50);
  CHECK(plan.admit(kReal) == Verdict::kDirect);
  CHECK(plan.admit(kMono) == Verdict::kDeferred);
  plan.clocks.settle();
  CHECK_EQ(plan.place(kMono, 60), 1010);
  CHECK_EQ(plan.place(kReal, 60), 60);
}

TEST("clock plan: a registered clock is judged at the end") {
  Plan plan;
  CHECK(plan.admit(kReal) == Verdict::kDirect);
  CHECK(plan.admit(kOwn, true) == Verdict::kDeferred);
  CHECK(plan.admit(kOwn + 1, true) == Verdict::kDeferred);
  plan.clocks.add_point(kOwn, kReal, 0, 500);
  plan.clocks.settle();
  CHECK_EQ(plan.place(kOwn, 1), 501);
  CHECK_EQ(plan.place(kOwn + 1, 1), -1);
  CHECK_EQ(plan.summary.get(Count::kDroppedUntied), 1u);
}

TEST("clock plan: a registered clock that is alone is the trace's") {
  Plan plan;
  CHECK(plan.admit(kOwn, true) == Verdict::kDeferred);
  plan.clocks.settle();
  CHECK_EQ(plan.place(kOwn, 42), 42);
  CHECK_EQ(plan.clocks.written_clock(kOwn), kBoottime);
}

TEST("clock plan: unrelated clocks that are allowed each start at 0, tied ones together") {
  Plan plan({false, true, 0});
  CHECK(plan.admit(kMono) == Verdict::kDeferred);
  CHECK(plan.admit(kReal) == Verdict::kDeferred);
  CHECK(plan.admit(kOwn, true) == Verdict::kDeferred);
  plan.clocks.add_point(kOwn, kReal, 0, 1'000'000);
  plan.clocks.note_time(kMono, 77);
  plan.clocks.note_time(kMono, 70);
  plan.clocks.note_time(kReal, 1'000'500);
  plan.clocks.note_time(kOwn, 300);
  plan.clocks.settle();
  CHECK_EQ(plan.clocks.trace_clock(), kReal);
  CHECK_EQ(plan.place(kMono, 77), 7);
  CHECK_EQ(plan.place(kReal, 1'000'500), 200);
  CHECK_EQ(plan.place(kOwn, 300), 0);
  CHECK_EQ(plan.summary.get(Count::kUnrelatedClocks), 1u);
}

TEST("clock plan: allowing unrelated clocks moves nothing where all are tied") {
  Plan plan({false, true, 0});
  plan.admit(kReal);
  plan.clocks.note_time(kReal, 1000);
  plan.clocks.settle();
  CHECK_EQ(plan.place(kReal, 1000), 1000);
  CHECK_EQ(plan.summary.get(Count::kUnrelatedClocks), 0u);
}

TEST("clock plan: times outside the file's range are counted, an offset moves the range") {
  Plan plan;
  plan.admit(kReal);
  plan.clocks.settle();
  for (int64_t time : {int64_t{-1}, INT64_MIN, INT64_MAX}) CHECK_EQ(plan.place(kReal, time), -1);
  CHECK_EQ(plan.place(kReal, 0), 0);
  CHECK_EQ(plan.place(kReal, INT64_MAX - 1), INT64_MAX - 1);
  CHECK_EQ(plan.summary.get(Count::kDroppedTimes), 3u);
  Plan moved({false, false, 100});
  moved.admit(kReal);
  moved.clocks.settle();
  CHECK_EQ(moved.place(kReal, -100), 0);
  CHECK_EQ(moved.place(kReal, -101), -1);
  CHECK_EQ(moved.place(kReal, INT64_MAX), -1);
}

TEST("clock plan: how far sync points lie from a line is told") {
  Plan plan;
  plan.admit(kReal);
  for (auto [a, b] : {std::pair{0, 0}, {10, 13}, {20, 20}})
    plan.clocks.add_point(kOwn, kReal, a, b);
  plan.clocks.settle();
  CHECK_EQ(plan.place(kOwn, 16), 17);
  CHECK_EQ(plan.summary.get(Count::kClockResidualNs), 3u);
}

TEST("clock plan: the host's times carry a time from one of its clocks to another") {
  Plan plan({true, false, 0});
  plan.admit(kMono);
  plan.clocks.add_host_times({{{kBoottime, 5000},
                               {kMonotonic, 4000},
                               {kMonotonicRaw, 3990},
                               {kRealtime, 1'700'000'000'000'000'000}}});
  int64_t time = 4100;
  CHECK(plan.clocks.carry(kMono, kReal, time));
  CHECK_EQ(time, 1'700'000'000'000'000'100);
  CHECK(plan.clocks.carry(kReal, kMonotonicRaw, time));
  CHECK_EQ(time, 4090);
  CHECK(!plan.clocks.carry(kReal, kOwn, time));
  plan.clocks.settle();
  CHECK_EQ(plan.place(kReal, 1'700'000'000'000'000'007), 4007);
}
