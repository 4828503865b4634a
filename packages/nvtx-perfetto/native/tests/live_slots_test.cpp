// SPDX-License-Identifier: Apache-2.0
// The places of threads and of process-wide ranges, which are used again and again.
#include <algorithm>
#include <functional>
#include <set>
#include <thread>

#include "live_recording.h"

using namespace recording;

namespace {

// Runs `work` in a thread with a buffer of its own.
void in_thread(Recording& recording, const std::function<void(live::ThreadWriter&)>& work) {
  std::thread([&] {
    live::ThreadWriter writer(recording.registry);
    writer.attach(recording.session.get());
    work(writer);
    writer.detach();
  }).join();
}

std::vector<std::string> names_of_tracks(const packets::Trace& trace, const std::string& part) {
  std::vector<std::string> found;
  for (const auto& [uuid, track] : trace.tracks) {
    if (track.name.find(part) != std::string::npos) found.push_back(track.name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST("live slots: a thread that gets a slot of before has tracks, counts and domains of its own") {
  Recording recording;
  recording.registry.create_domain("a");
  recording.registry.create_domain("b");
  std::set<uint64_t> tracks;
  // Twice as many as there are slots, so that each is used again.
  constexpr uint32_t kThreads = 2 * live::kMaxThreads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    in_thread(recording, [&](live::ThreadWriter& writer) {
      writer.mark(i < kThreads / 2 ? 1 : 2, recording.named("mark"));
      writer.pop(0, nullptr, 0);
      writer.push(0, recording.named("open"));
    });
    if (i % 50 == 0) CHECK(recording.session->flush());
  }
  packets::Trace trace = recording.finish();
  for (const packets::Event& event : trace.events) {
    if (event.name == "mark") tracks.insert(event.track);
  }
  CHECK_EQ(tracks.size(), size_t{kThreads});
  CHECK_EQ(names_of_tracks(trace, "a (").size(), size_t{kThreads / 2});
  CHECK_EQ(names_of_tracks(trace, "b (").size(), size_t{kThreads / 2});
  CHECK_EQ(summary(trace, "unmatched_pops"), std::to_string(kThreads));
  CHECK_EQ(summary(trace, "ranges_left_open"), std::to_string(kThreads));
}

TEST("live slots: a thread that does not mark or push in a domain has no track there") {
  Recording recording;
  recording.registry.create_domain("first");
  recording.registry.create_domain("second");
  recording.registry.create_domain("unused");
  recording.writer->mark(1, recording.named("m"));
  recording.writer->push(2, recording.named("p"));
  recording.writer->pop(2, nullptr, 0);
  packets::Trace trace = recording.finish();
  CHECK_EQ(names_of_tracks(trace, "first (").size(), size_t{1});
  CHECK_EQ(names_of_tracks(trace, "second (").size(), size_t{1});
  CHECK_EQ(names_of_tracks(trace, "unused").size(), size_t{0});
}

TEST("live slots: ranges that are left open are counted, whoever left them") {
  Recording recording;
  in_thread(recording, [&](live::ThreadWriter& writer) {
    writer.push(0, recording.named("ended thread's"));
    recording.session->flush();
    writer.push(0, recording.named("another"));
  });
  CHECK(recording.session->flush());
  recording.writer->push(0, recording.named("living thread's"));
  CHECK(recording.writer->start(0, recording.named("process's")) != 0);
  packets::Trace trace = recording.finish();
  CHECK_EQ(summary(trace, "ranges_left_open"), "4");
}

TEST("live slots: lanes of domains are apart, and starts come before their ends") {
  Recording recording;
  recording.registry.create_domain("own");
  for (uint32_t domain : {0u, 1u}) {
    uint64_t id = 0;
    // The ending thread's slot comes first, so its end is found before the start.
    in_thread(recording, [&](live::ThreadWriter& writer) {
      id = writer.start(domain, recording.named(domain ? "in own" : "in default"));
    });
    recording.writer->end(id, nullptr, 0);
  }
  packets::Trace trace = recording.finish();
  for (const std::string lane : {"start/end ranges", "own start/end ranges"}) {
    auto events = trace.on(lane);
    CHECK_EQ(events.size(), size_t{2});
    CHECK_EQ(events.front().type, kBegin);
    CHECK_EQ(events.front().name, lane[0] == 's' ? "in default" : "in own");
    CHECK_EQ(events.back().type, kEnd);
    CHECK(events.front().time < events.back().time);
  }
}

TEST("live slots: what an end says is an argument, whichever thread says it") {
  Recording recording;
  double value = 1.5;
  nvtxPayloadData_t payload{NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, sizeof(value), &value};
  uint64_t id = recording.writer->start(0, recording.named("r"));
  in_thread(recording, [&](live::ThreadWriter& writer) { writer.end(id, &payload, 1); });
  packets::Trace trace = recording.finish();
  CHECK_EQ(trace.on("start/end ranges").back().arguments.at("payload"), "1.500000");
}

TEST("live slots: ranges of one lane never touch") {
  Recording recording;
  for (int i = 0; i < 10'000; ++i) {
    recording.writer->end(recording.writer->start(0, recording.named("r")), nullptr, 0);
  }
  packets::Trace trace = recording.finish();
  auto events = trace.on("start/end ranges");
  CHECK_EQ(events.size(), size_t{20'000});
  size_t touching = 0;
  for (size_t i = 2; i < events.size(); i += 2) touching += events[i].time <= events[i - 1].time;
  CHECK_EQ(touching, size_t{0});
}

TEST("live slots: an end that had waited is written once, and its lane serves again") {
  Recording recording(16);
  uint64_t id = recording.writer->start(0, recording.named("long"));
  for (int i = 0; i < 400'000; ++i) recording.writer->mark(0, recording.named("m"));
  recording.writer->end(id, nullptr, 0);
  for (int i = 0; i < 3; ++i) CHECK(recording.session->flush());
  CHECK_EQ(recording.session->file().header().late_ends.load(), 0u);
  for (int i = 0; i < 3; ++i) {
    recording.writer->end(recording.writer->start(0, recording.named("next")), nullptr, 0);
  }
  packets::Trace trace = recording.finish();
  std::set<uint64_t> lanes;
  for (const packets::Event& event : trace.on("start/end ranges")) lanes.insert(event.track);
  CHECK_EQ(lanes.size(), size_t{1});
  CHECK_EQ(trace.on("start/end ranges").size(), size_t{8});
}

TEST("live slots: the id of a range that has ended ends no later one of its lane") {
  Recording recording;
  uint64_t first = recording.writer->start(0, recording.named("first"));
  recording.writer->end(first, nullptr, 0);
  uint64_t second = recording.writer->start(0, recording.named("second"));
  recording.writer->end(first, nullptr, 0);
  packets::Trace trace = recording.finish();
  CHECK(first != second);
  CHECK_EQ(trace.on("start/end ranges").size(), size_t{3});
  CHECK_EQ(summary(trace, "unmatched_ends"), "1");
  CHECK_EQ(summary(trace, "ranges_left_open"), "1");
}

TEST("live slots: an id of another process image ends nothing") {
  Recording before(64, "before");
  Recording after(64, "after");
  uint64_t old = before.writer->start(0, before.named("old"));
  after.writer->start(0, after.named("new"));
  after.writer->end(old, nullptr, 0);
  before.finish();
  packets::Trace trace = after.finish();
  CHECK_EQ(summary(trace, "unmatched_ends"), "1");
  CHECK_EQ(trace.on("start/end ranges").size(), size_t{1});
}

TEST("live slots: dropped events are marked on their thread") {
  Recording recording(16);
  for (int i = 0; i < 400'000; ++i) recording.writer->mark(0, recording.named("m"));
  std::string dropped = std::to_string(recording.session->stats().dropped);
  packets::Trace trace = recording.finish();
  CHECK_EQ(count(trace, kInstant, "nvtx-perfetto dropped events"), size_t{1});
  for (const packets::Event& event : trace.events) {
    if (event.name != "nvtx-perfetto dropped events") continue;
    CHECK_EQ(event.arguments.at("dropped"), dropped);
    CHECK(trace.tracks.count(event.track) == 1);
  }
}
