// SPDX-License-Identifier: Apache-2.0
#include "model/range_lanes.h"

#include <algorithm>
#include <random>

#include "stage.h"

using namespace nvtx_perfetto;
using stage::Events;
using stage::Stage;

namespace {

struct Given {
  int64_t begin;
  int64_t end;
  bool instant;
};

// The rule in plain words: the lane whose innermost open range is the latest-begun one that
// contains the new one, else the lowest lane that is free at its begin, else a new lane.
struct Model {
  struct Open {
    Given range;
    std::string name;
  };
  std::vector<std::vector<Open>> lanes;
  std::map<std::string, std::pair<size_t, std::string>> placed;  // name: lane, parent

  void add(const Given& given, const std::string& name) {
    size_t chosen = lanes.size();
    size_t free = lanes.size();
    int64_t latest = -1;
    for (size_t i = 0; i < lanes.size(); ++i) {
      auto& lane = lanes[i];
      while (!lane.empty() && lane.back().range.end <= given.begin) lane.pop_back();
      if (lane.empty()) {
        free = std::min(free, i);
      } else if (lane.back().range.end >= given.end && lane.back().range.begin > latest) {
        chosen = i;
        latest = lane.back().range.begin;
      }
    }
    if (chosen == lanes.size()) chosen = free;
    if (chosen == lanes.size()) lanes.emplace_back();
    auto& lane = lanes[chosen];
    placed[name] = {chosen, lane.empty() ? "" : lane.back().name};
    if (!given.instant && given.end > given.begin) lane.push_back({given, name});
  }
};

std::vector<Given> random_ranges(std::mt19937& random, size_t count, int64_t span) {
  std::vector<Given> all;
  for (size_t i = 0; i < count; ++i) {
    int64_t begin = static_cast<int64_t>(random() % static_cast<uint32_t>(span));
    bool instant = random() % 5 == 0;
    int64_t length = instant ? 0 : static_cast<int64_t>(random() % 12);
    all.push_back({begin, begin + length, instant});
  }
  std::stable_sort(all.begin(), all.end(), [](const Given& a, const Given& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return all;
}

}  // namespace

TEST("range lanes: random crossings have exact times, lanes and parents as the rule says") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Stage stage;
    Events events(stage.domain);
    std::vector<uint64_t> made;
    NestedLanes lanes(stage.out, stage::kClock, stage.emitter, stage.summary, [&] {
      made.push_back(stage.tracks.add_root("lane"));
      return made.back();
    });
    Model model;
    std::vector<Given> given = random_ranges(random, 25, 30);
    for (size_t i = 0; i < given.size(); ++i) {
      Shape shape = given[i].instant ? Shape::kInstant : Shape::kNested;
      lanes.add(events.event(given[i].begin, given[i].end, shape, std::to_string(i)));
      model.add(given[i], std::to_string(i));
    }
    lanes.finish();
    auto found = stage::slices(stage.trace());
    CHECK_EQ(found.size(), given.size());
    CHECK_EQ(made.size(), model.lanes.size());
    for (size_t i = 0; i < given.size(); ++i) {
      const auto& slice = found[std::to_string(i)];
      const auto& [lane, parent] = model.placed[std::to_string(i)];
      CHECK_EQ(slice.begin, given[i].begin);
      CHECK_EQ(slice.end, given[i].end);
      CHECK_EQ(slice.track, made.at(lane));
      CHECK_EQ(slice.parent, parent);
    }
  }
}

TEST("range lanes: nesting stays on one lane; touching ranges do not cross") {
  Stage stage;
  Events events(stage.domain);
  int lanes_made = 0;
  NestedLanes lanes(stage.out, stage::kClock, stage.emitter, stage.summary, [&] {
    ++lanes_made;
    return stage.tracks.add_root("lane");
  });
  lanes.add(events.event(0, 10, Shape::kNested, "a"));
  lanes.add(events.event(0, 10, Shape::kNested, "b"));
  lanes.add(events.event(0, 5, Shape::kNested, "c"));
  lanes.add(events.event(5, 10, Shape::kNested, "d"));
  lanes.add(events.event(10, 10, Shape::kNested, "e"));
  lanes.add(events.event(10, 12, Shape::kNested, "f"));
  lanes.finish();
  auto found = stage::slices(stage.trace());
  CHECK_EQ(lanes_made, 1);
  CHECK_EQ(stage.summary.get(Count::kCrossings), 0u);
  CHECK_EQ(found["b"].parent, "a");
  CHECK_EQ(found["c"].parent, "b");
  CHECK_EQ(found["d"].parent, "b");
  CHECK_EQ(found["e"].parent, "");
  CHECK_EQ(found["f"].parent, "");
}

TEST("range lanes: what never ends has no end and is counted; inner ranges keep theirs") {
  Stage stage;
  Events events(stage.domain);
  NestedLanes lanes(stage.out, stage::kClock, stage.emitter, stage.summary,
                    [&] { return stage.tracks.add_root("lane"); });
  lanes.add(events.event(0, kNeverEnds, Shape::kNested, "open"));
  lanes.add(events.event(1, 2, Shape::kNested, "in"));
  lanes.finish();
  auto found = stage::slices(stage.trace());
  CHECK_EQ(found["open"].end, -1);
  CHECK_EQ(found["in"].end, 2);
  CHECK_EQ(stage.summary.get(Count::kRangesLeftOpen), 1u);
}

TEST("range lanes: start/end ranges have a lane each, the lowest that is free") {
  Stage stage;
  Events events(stage.domain);
  std::vector<uint64_t> made;
  AsyncLanes lanes(stage.out, stage::kClock, stage.emitter, stage.summary, [&] {
    made.push_back(stage.tracks.add_root("lane"));
    return made.back();
  });
  lanes.add(events.event(0, 10, Shape::kAsync, "a"));
  lanes.add(events.event(1, 3, Shape::kAsync, "b"));
  lanes.add(events.event(2, 12, Shape::kAsync, "c"));
  lanes.add(events.event(3, 4, Shape::kAsync, "d"));
  lanes.add(events.event(10, 10, Shape::kAsync, "e"));
  lanes.add(events.event(11, 13, Shape::kAsync, "f"));
  lanes.finish();
  auto found = stage::slices(stage.trace());
  CHECK_EQ(made.size(), 3u);
  for (auto [name, lane] :
       std::map<std::string, size_t>{{"a", 0}, {"b", 1}, {"c", 2}, {"d", 1}, {"e", 0}, {"f", 0}}) {
    CHECK_EQ(found[name].track, made.at(lane));
    CHECK_EQ(found[name].parent, "");
  }
  CHECK_EQ(found["c"].end, 12);
  CHECK_EQ(stage.summary.get(Count::kCrossings), 0u);
}

TEST("range lanes: a full file takes no begins, but every end of what it took") {
  Stage stage;
  Events events(stage.domain);
  NestedLanes lanes(stage.out, stage::kClock, stage.emitter, stage.summary,
                    [&] { return stage.tracks.add_root("lane"); });
  lanes.add(events.event(0, 10, Shape::kNested, "a"));
  stage.sink.closed = true;
  lanes.add(events.event(1, 9, Shape::kNested, "b"));
  lanes.add(events.event(2, 2, Shape::kInstant, "c"));
  lanes.finish();
  auto found = stage::slices(stage.trace());
  CHECK_EQ(found.size(), 1u);
  CHECK_EQ(found["a"].end, 10);
  CHECK_EQ(stage.summary.get(Count::kDroppedOverLimit), 2u);
}
