// SPDX-License-Identifier: Apache-2.0
// Events that wait until a recording ends, across drains and deaths.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "live/attribute_copy.h"
#include "live/record.h"
#include "live_recording.h"

using namespace recording;

namespace {

struct Mark {
  int64_t time;
  uint64_t tid;
};
constexpr uint32_t kDomain = 0;

uint64_t define_mark(live::Registry& registry) {
  nvtxPayloadSchemaEntry_t entries[2] = {};
  entries[0].flags = NVTX_PAYLOAD_ENTRY_FLAG_MARK | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;
  entries[0].type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64;
  return define_schema(registry, kDomain, NVTX_PAYLOAD_SCHEMA_FLAG_MARK, entries, 2);
}

void submit(Recording& recording, uint64_t schema, const std::vector<Mark>& marks) {
  size_t size = recording.registry.row_size(kDomain, schema);
  CHECK_EQ(size, sizeof(Mark));
  live::EventBatchHead head{schema, NVTX_SCOPE_NONE, NVTX_BATCH_FLAG_UNSORTED, size};
  recording.writer->batch(
      {live::kEventBatch, kDomain, 0, marks.data(), size, marks.size(), nullptr}, &head,
      sizeof(head));
}

std::vector<int64_t> times(const packets::Trace& trace) {
  std::vector<int64_t> found;
  for (const packets::Event& event : trace.on("NVTX deferred")) found.push_back(event.time);
  return found;
}

}  // namespace

TEST("live deferred: what was drained in between and what was not are one sorted track") {
  Recording recording;
  uint64_t schema = define_mark(recording.registry);
  auto tid = static_cast<uint64_t>(::gettid());
  submit(recording, schema, {{30, tid}, {10, tid}});
  CHECK(recording.session->flush());
  submit(recording, schema, {{20, tid}, {5, tid}});
  packets::Trace trace = recording.finish();
  CHECK(times(trace) == (std::vector<int64_t>{5, 10, 20, 30}));
  CHECK_EQ(summary(trace, "events"), "4");
  CHECK_EQ(with_suffix(".deferred"), "");
}

TEST("live deferred: a row's own scope comes before its batch's") {
  struct Row {
    int64_t time;
    uint64_t scope;
  };
  Recording recording;
  uint64_t scopes[2];
  for (int i : {0, 1}) {
    nvtx_perfetto::ByteBuffer body;
    live::pack_scope(body, i ? "own" : "batch's", NVTX_SCOPE_NONE);
    scopes[i] = recording.registry.define(live::DefinitionKind::kScope, kDomain, 0, body.view(),
                                          NVTX_SCOPE_ID_DYNAMIC_START);
  }
  nvtxPayloadSchemaEntry_t entries[2] = {};
  entries[0].flags = NVTX_PAYLOAD_ENTRY_FLAG_MARK | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;
  entries[0].type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID;
  uint64_t schema =
      define_schema(recording.registry, kDomain, NVTX_PAYLOAD_SCHEMA_FLAG_MARK, entries, 2);
  Row rows[] = {{10, NVTX_SCOPE_NONE}, {20, scopes[1]}};
  live::EventBatchHead head{schema, scopes[0], NVTX_BATCH_FLAG_UNSORTED, sizeof(Row)};
  recording.writer->batch({live::kEventBatch, kDomain, 0, rows, sizeof(Row), 2, nullptr}, &head,
                          sizeof(head));
  packets::Trace trace = recording.finish();
  std::vector<std::string> places;
  for (const packets::Event& event : trace.on("NVTX deferred")) {
    places.push_back(trace.tracks.at(trace.tracks.at(event.track).parent).name);
  }
  std::sort(places.begin(), places.end());
  CHECK(places == (std::vector<std::string>{"batch's", "own"}));
}

TEST("live deferred: what lies before all time is dropped and counted") {
  Recording recording;
  uint64_t schema = define_mark(recording.registry);
  submit(recording, schema, {{-5, 1}, {5, 1}, {INT64_MAX, 1}});
  packets::Trace trace = recording.finish();
  CHECK(times(trace) == std::vector<int64_t>{5});
  CHECK_EQ(summary(trace, "dropped_times"), "2");
}

TEST("live deferred: a batch larger than a record is taken whole") {
  Recording recording;
  uint64_t schema = define_mark(recording.registry);
  std::vector<Mark> marks(20'000);
  for (size_t i = 0; i < marks.size(); ++i) marks[i] = {static_cast<int64_t>(i), 1};
  submit(recording, schema, marks);
  packets::Trace trace = recording.finish();
  std::vector<int64_t> expected;
  for (const Mark& mark : marks) expected.push_back(mark.time);
  CHECK(times(trace) == expected);
  CHECK_EQ(summary(trace, "order_breaks"), "");
}

namespace {

// The parents of the tracks of a live mark and of the deferred one that names its thread by id.
std::pair<uint64_t, uint64_t> places(const packets::Trace& trace) {
  std::pair<uint64_t, uint64_t> found;
  for (const packets::Event& event : trace.events) {
    if (event.name == "ended") found.first = event.track;
    if (event.time == 10) found.second = trace.tracks.at(event.track).parent;
  }
  return found;
}

uint64_t mark_in_a_thread(Recording& recording) {
  uint64_t tid = 0;
  std::thread([&] {
    live::ThreadWriter writer(recording.registry);
    writer.attach(recording.session.get());
    tid = static_cast<uint64_t>(::gettid());
    writer.mark(kDomain, recording.named("ended"));
    writer.detach();
  }).join();
  recording.session->flush();
  return tid;
}

// What is recovered of a child that was killed behind its work.
template <typename Work>
packets::Trace recovered_from(const Work& work) {
  record_and_die([&](Recording& recording) { work(recording, define_mark(recording.registry)); });
  CHECK(!with_suffix(".deferred").empty());
  std::string problem;
  CHECK_EQ(live::recover(with_suffix(".live"), problem), live::Recovered::kDrained);
  CHECK_EQ(problem, "");
  CHECK_EQ(with_suffix(".deferred"), "");
  return packets::Trace(content(with_suffix(".part")));
}

}  // namespace

TEST("live deferred: a killed process's events are found, and its threads by their ids") {
  packets::Trace trace = recovered_from([](Recording& recording, uint64_t schema) {
    submit(recording, schema, {{30, 1}});
    uint64_t tid = mark_in_a_thread(recording);
    submit(recording, schema, {{10, tid}});
  });
  CHECK_EQ(times(trace).size(), size_t{2});
  auto [live, deferred] = places(trace);
  CHECK(live != 0);
  CHECK_EQ(deferred, live);
}

TEST("live deferred: threads that ended before the first of these events are found too") {
  packets::Trace trace = recovered_from([](Recording& recording, uint64_t schema) {
    uint64_t tid = mark_in_a_thread(recording);
    submit(recording, schema, {{10, tid}});
    recording.session->flush();
  });
  auto [live, deferred] = places(trace);
  CHECK(live != 0);
  CHECK_EQ(deferred, live);
}

TEST("live deferred: half a drain behind the checkpoint of what waits is cut off") {
  packets::Trace trace = recovered_from([](Recording& recording, uint64_t schema) {
    submit(recording, schema, {{10, 1}});
    recording.session->flush();
    submit(recording, schema, {{20, 1}});
    std::ofstream(with_suffix(".deferred"), std::ios::app) << "half a drain";
  });
  CHECK(times(trace) == (std::vector<int64_t>{10, 20}));
}

TEST("live deferred: a full disk keeps what waits for a later join") {
  Recording recording;
  uint64_t schema = define_mark(recording.registry);
  submit(recording, schema, {{1, 1}});
  std::filesystem::create_directory(
      recording.session->file().path().substr(0, recording.session->file().path().size() - 5) +
      ".deferred");
  CHECK(!recording.session->flush());
  recording.writer->detach();
  CHECK(recording.session->finish(recording.registry).find("is kept in") != std::string::npos);
  CHECK(!with_suffix(".live").empty());
}

TEST("live deferred: what a full disk did not take waits once") {
  Recording recording;
  uint64_t schema = define_mark(recording.registry);
  submit(recording, schema, {{1, 1}});
  CHECK(recording.session->flush());
  submit(recording, schema, {{2, 1}});
  {
    FullDisk full(recording.session->stats().part_bytes);
    for (int i = 0; i < 3; ++i) CHECK(!recording.session->flush());
  }
  CHECK(times(recording.finish()) == (std::vector<int64_t>{1, 2}));
}
