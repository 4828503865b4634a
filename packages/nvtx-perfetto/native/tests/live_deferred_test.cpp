// SPDX-License-Identifier: Apache-2.0
// Events that wait until a recording ends, across drains and deaths.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
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

std::string file_with(const std::string& suffix) {
  for (const auto& entry : std::filesystem::directory_iterator(check::folder())) {
    if (entry.path().extension() == suffix) return entry.path();
  }
  return {};
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
  CHECK_EQ(file_with(".deferred"), "");
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

TEST("live deferred: a killed process's events are found, and its threads by their ids") {
  check::folder();  // the child's too
  pid_t child = ::fork();
  if (child == 0) {
    Recording recording;
    uint64_t schema = define_mark(recording.registry);
    uint64_t tid = 0;
    submit(recording, schema, {{30, 1}});
    std::thread([&] {
      live::ThreadWriter writer(recording.registry);
      writer.attach(recording.session.get());
      tid = static_cast<uint64_t>(::gettid());
      writer.mark(kDomain, recording.named("ended"));
      writer.detach();
    }).join();
    recording.session->flush();
    submit(recording, schema, {{10, tid}});
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(!file_with(".deferred").empty());
  std::string problem;
  CHECK_EQ(live::recover(file_with(".live"), problem), live::Recovered::kDrained);
  CHECK_EQ(problem, "");
  packets::Trace trace(content(file_with(".part")));
  CHECK_EQ(times(trace).size(), size_t{2});
  std::vector<uint64_t> ended;
  std::vector<uint64_t> named;
  for (const packets::Event& event : trace.events) {
    if (event.name == "ended") ended.push_back(event.track);
    if (event.time == 10) named.push_back(trace.tracks[event.track].parent);
  }
  CHECK(ended == named);
  CHECK_EQ(file_with(".deferred"), "");
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
  CHECK(!file_with(".live").empty());
}
