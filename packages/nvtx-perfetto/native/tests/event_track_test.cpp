// SPDX-License-Identifier: Apache-2.0
#include "model/event_track.h"

#include "stage.h"

using namespace nvtx_perfetto;
using stage::Events;
using stage::Stage;

namespace {

struct Fixture {
  Stage stage;
  Events events{stage.domain};
  EventTrack track{stage.shop(), stage.out, stage.emitter, 0, "stream"};

  Fixture() { track.set_clock(stage::kClock); }
  void keep(int64_t begin, int64_t end, const std::string& name, Shape shape = Shape::kNested) {
    track.keep(events.event(begin, end, shape, name));
  }
  void half(bool push, int64_t time, const std::string& name) {
    Row row = events.row(name);
    track.keep_half(push, time, &row, push ? 1 : 0, false, 0);
  }
  std::map<std::string, stage::Slice> finished() {
    track.finish();
    return stage::slices(stage.trace());
  }
};

}  // namespace

TEST("event track: kept ranges nest right from any order, also when they were spilled") {
  Fixture f;
  f.keep(4, 6, "inner");
  f.keep(4, 4, "instant", Shape::kInstant);
  f.track.spill();
  f.keep(0, 10, "outer");
  f.keep(0, 10, "same");
  f.track.spill();
  f.keep(5, 6, "last");
  auto found = f.finished();
  CHECK_EQ(found["same"].parent, "outer");
  CHECK_EQ(found["inner"].parent, "same");
  CHECK_EQ(found["instant"].parent, "inner");
  CHECK_EQ(found["last"].parent, "inner");
  CHECK_EQ(f.stage.budget.runs(), 2u);
}

TEST("event track: halves are paired in time, whatever the order they came in") {
  Fixture f;
  f.half(false, 10, "");
  f.half(true, 2, "b");
  f.half(true, 0, "a");
  f.half(false, 5, "");
  f.half(false, 11, "");
  f.half(true, 20, "open");
  auto found = f.finished();
  CHECK_EQ(found.size(), 3u);
  CHECK_EQ(found["a"].end, 10);
  CHECK_EQ(found["b"].end, 5);
  CHECK_EQ(found["b"].parent, "a");
  CHECK_EQ(found["open"].end, -1);
  CHECK_EQ(f.stage.summary.get(Count::kUnmatchedPops), 1u);
  CHECK_EQ(f.stage.summary.get(Count::kRangesLeftOpen), 1u);
}

TEST("event track: halves equal in both times stay in the order they were pushed") {
  Fixture f;
  for (const char* name : {"a", "b", "c"}) f.half(true, 1, name);
  for (int i = 0; i < 3; ++i) f.half(false, 2, "");
  auto found = f.finished();
  CHECK_EQ(found["b"].parent, "a");
  CHECK_EQ(found["c"].parent, "b");
}

TEST("event track: events that come after later ones were written have exact times") {
  for (Shape shape : {Shape::kNested, Shape::kAsync}) {
    Fixture f;
    f.track.pass(f.events.event(0, 100, shape, "p0"));
    f.track.pass(f.events.event(55, 70, shape, "p1"));
    f.track.pass(f.events.event(200, 210, shape, "p2"));
    f.keep(58, 65, "k0", shape);
    f.keep(65, 75, "k1", shape);
    f.keep(300, 301, "k2", shape);
    auto found = f.finished();
    for (auto [name, begin, end] :
         std::vector<std::tuple<std::string, int64_t, int64_t>>{{"p0", 0, 100},
                                                                {"p1", 55, 70},
                                                                {"p2", 200, 210},
                                                                {"k0", 58, 65},
                                                                {"k1", 65, 75},
                                                                {"k2", 300, 301}}) {
      CHECK_EQ(found[name].begin, begin);
      CHECK_EQ(found[name].end, end);
    }
    CHECK_EQ(f.stage.summary.get(Count::kLateEvents), 2u);
  }
}

TEST("event track: lanes are siblings of one name, start/end lanes its children") {
  Fixture f;
  f.keep(0, 10, "a");
  f.keep(5, 15, "crossing");
  f.keep(0, 10, "async", Shape::kAsync);
  f.finished();
  packets::Trace trace = f.stage.trace();
  int same = 0;
  int async = 0;
  for (const auto& [uuid, track] : trace.tracks) {
    same += track.name == "stream" && track.parent == 0;
    async += track.name == "start/end ranges" && track.parent == f.track.track();
  }
  CHECK_EQ(same, 2);
  CHECK_EQ(async, 1);
}

TEST("event track: categories are the domain's name and then the event's") {
  Fixture f;
  f.keep(0, 1, "a");
  f.finished();
  CHECK((f.stage.trace().events.at(0).categories == std::vector<std::string>{"dom"}));
}

TEST("event track: events keep their categories while thousands of names come and go") {
  for (uint64_t type : {NVTX_PAYLOAD_ENTRY_TYPE_INT32, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB}) {
    Fixture f;
    const Schema& schema = stage::registered(f.stage.domain, {schemas::entry(type, "x")});
    schemas::Bytes bytes;
    bytes.add<int32_t>(7);
    for (int64_t i = 0; i < 20'000; ++i) {
      Event event = f.events.event(i, i, Shape::kInstant, std::to_string(i));
      Row rows[2] = {*event.rows, bytes.row(schema)};
      event.rows = rows;
      event.row_count = 1 + static_cast<uint32_t>(i % 2);
      f.track.keep(event);
    }
    f.track.finish();
    bool all = true;
    for (const auto& event : f.stage.trace().events) {
      all = all && event.categories == std::vector<std::string>{"dom"} &&
            event.name == std::to_string(event.time);
    }
    CHECK(all);
  }
}
