// SPDX-License-Identifier: Apache-2.0
// Where the threads' events lie until they are drained: memory that is there before it is needed,
// that no child sees, and that comes back to the pool.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <map>
#include <thread>

#include "live_recording.h"

using namespace recording;

namespace {

constexpr int kRecords =
    live::kChunkSize / sizeof(live::Record);  // that a chunk holds, and few more

[[maybe_unused]] long page_faults() {
  rusage usage;
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

void push_and_pop(live::ThreadWriter& writer, int ranges) {
  live::EventInput nameless;
  for (int i = 0; i < ranges; ++i) {
    writer.push(0, nameless);
    writer.pop(0, nullptr, 0);
  }
}

// A nest that reserves several chunks for its pops, and gives all of them back.
void nest(live::ThreadWriter& writer, int levels, const nvtxPayloadData_t* payload = nullptr) {
  live::EventInput nameless;
  for (int i = 0; i < levels; ++i) writer.push(0, nameless);
  for (int i = 0; i < levels; ++i) writer.pop(0, payload, payload ? 1 : 0);
}

bool maps(const std::string& path) {
  return content("/proc/self/maps").find(path) != std::string::npos;
}

}  // namespace

// A sanitizer's own memory comes by page faults of this thread.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST("live buffers: a chunk's memory is there before its first event") {
  // A chunk has 64 pages. The least of a few tries, since the system may write the file to disk
  // meanwhile, and then wants to know of the next change to each page.
  long least = LONG_MAX;
  for (int tries = 0; tries < 3; ++tries) {
    Recording recording;
    push_and_pop(*recording.writer, 1);
    long before = page_faults();
    push_and_pop(*recording.writer, kRecords / 2 - 100);
    least = std::min(least, page_faults() - before);
  }
  CHECK(least < 16);
}
#endif

TEST("live buffers: all that is mapped has disk space behind it") {
  Recording recording;
  push_and_pop(*recording.writer, 2 * kRecords);
  struct stat found;
  CHECK_EQ(::stat(recording.session->file().path().c_str(), &found), 0);
  CHECK(static_cast<uint64_t>(found.st_size) >= recording.session->file().bytes());
  CHECK(static_cast<uint64_t>(found.st_blocks) * 512 >= recording.session->file().bytes());
}

TEST("live buffers: a forked child does not have the mapping") {
  Recording recording;
  CHECK(maps(recording.session->file().path()));
  pid_t child = ::fork();
  if (child == 0) ::_exit(maps(recording.session->file().path()));
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
}

TEST("live buffers: what a drain has written is recorded into again") {
  Recording recording(16);
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    push_and_pop(*recording.writer, kRecords);  // two chunks
    CHECK(recording.session->flush());
  }
  CHECK_EQ(recording.session->stats().dropped, uint64_t{0});
  packets::Trace trace = recording.finish();
  CHECK_EQ(count(trace, kBegin), size_t{kRounds} * kRecords);
  CHECK_EQ(count(trace, kEnd), size_t{kRounds} * kRecords);
}

TEST("live buffers: records of all sizes fill chunks to the end and not beyond") {
  Recording recording;
  std::thread([&] {  // whose chunk lies behind the first one
    live::ThreadWriter other(recording.registry);
    other.attach(recording.session.get());
    std::vector<std::string> names;
    for (size_t i = 0; i < 50'000; ++i) names.emplace_back(i % 97, static_cast<char>('a' + i % 26));
    for (const std::string& name : names) {
      recording.writer->mark(0, recording.named(name.c_str()));
      other.mark(0, recording.named(name.c_str()));
    }
    other.detach();
  })
      .join();
  packets::Trace trace = recording.finish();
  std::map<uint64_t, size_t> next;
  size_t wrong = 0;
  for (const packets::Event& event : trace.events) {
    if (event.name == "nvtx-perfetto summary") continue;
    size_t i = next[event.track]++;
    wrong += event.name != std::string(i % 97, static_cast<char>('a' + i % 26));
  }
  CHECK_EQ(wrong, size_t{0});
  CHECK_EQ(next.size(), size_t{2});
  for (const auto& [track, events] : next) CHECK_EQ(events, size_t{50'000});
}

TEST("live buffers: a child's buffer reserves nothing for its parent's ranges") {
  Recording parent(16, "parent");
  Recording child(16, "child");
  live::EventInput nameless;
  for (int i = 0; i < 5 * kRecords; ++i) parent.writer->push(0, nameless);
  parent.writer->inherit();
  parent.writer->attach(child.session.get());
  nest(*parent.writer, 5 * kRecords);
  CHECK_EQ(parent.writer->pop(0, nullptr, 0), -1);
  parent.writer->detach();
  CHECK_EQ(child.session->stats().dropped, uint64_t{0});
  packets::Trace trace = child.finish();
  CHECK_EQ(count(trace, kBegin), size_t{5} * kRecords);
  CHECK_EQ(count(trace, kEnd), size_t{5} * kRecords);
  CHECK_EQ(summary(trace, "inherited_pops"), "1");
}

TEST("live buffers: what deep nests reserve is free again behind them") {
  Recording recording(16);
  double value = 1.5;
  nvtxPayloadData_t payload{NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, sizeof(value), &value};
  for (int round = 0; round < 12; ++round) {
    nest(*recording.writer, 2 * kRecords);
    nest(*recording.writer, kRecords, &payload);
    CHECK(recording.session->flush());
  }
  CHECK_EQ(recording.session->stats().dropped, uint64_t{0});
  recording.finish();
}

TEST("live buffers: the chunks of threads that have ended are free again") {
  Recording recording(16);
  constexpr int kThreads = 30;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      live::ThreadWriter writer(recording.registry);
      writer.attach(recording.session.get());
      live::EventInput nameless;
      for (int level = 0; level < 2 * kRecords; ++level) writer.push(0, nameless);
      writer.pop(0, nullptr, 0);
      writer.detach();
    }).join();
    CHECK(recording.session->flush());
  }
  CHECK_EQ(recording.session->stats().dropped, uint64_t{0});
  packets::Trace trace = recording.finish();
  CHECK_EQ(count(trace, kEnd), size_t{kThreads});
  CHECK_EQ(summary(trace, "ranges_left_open"), std::to_string(kThreads * (2 * kRecords - 1)));
}

TEST("live buffers: a batch larger than the room left drops its last rows, and counts them") {
  Recording recording(16);
  struct Sample {
    int64_t value;
  };
  constexpr size_t kSamples = 600'000;  // more than sixteen chunks hold
  std::vector<Sample> samples(kSamples);
  live::CounterBatchHead head{0, kSamples, 0, sizeof(Sample)};
  recording.writer->batch(
      {live::kCounterBatch, 0, 1, samples.data(), sizeof(Sample), kSamples, nullptr}, &head,
      sizeof(head));
  uint64_t dropped = recording.session->stats().dropped;
  CHECK(dropped > 1);
  CHECK(dropped < kSamples);
  std::string body(live::kMaxText + 1, 'x');
  recording.writer->sample_bytes(0, 1, body.data(), body.size());
  CHECK_EQ(recording.session->stats().dropped, dropped + 1);
}

TEST("live buffers: a call inside a call is refused and counted") {
  Recording recording;
  CHECK(recording.writer->enter());
  CHECK(!recording.writer->enter());
  recording.writer->leave();
  CHECK(recording.writer->enter());
  recording.writer->leave();
  CHECK_EQ(summary(recording.finish(), "reentered_calls"), "1");
}

TEST("live buffers: definitions leave half of the memory to events, and refusals are counted") {
  Recording recording(16);
  std::string text(60'000, 'x');
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    uint64_t handle = recording.registry.register_string(0, text + std::to_string(i));
    refused += handle == 0;
  }
  CHECK(refused > 20);
  CHECK(refused < 40);
  push_and_pop(*recording.writer, 2 * kRecords);
  CHECK_EQ(recording.session->stats().dropped, uint64_t{0});
  CHECK_EQ(summary(recording.finish(), "refused_definitions"), std::to_string(refused));
}
