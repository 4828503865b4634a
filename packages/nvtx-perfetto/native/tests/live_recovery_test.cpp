// SPDX-License-Identifier: Apache-2.0
// A process that dies leaves its live file; here a child dies in the middle of its work.
#include <filesystem>
#include <fstream>

#include "live/trace_join.h"
#include "live_recording.h"

using namespace recording;

namespace {

// Runs `work` in a child that is then killed, and recovers what it left.
template <typename Work>
packets::Trace killed(const Work& work) {
  record_and_die(work);
  std::string problem;
  std::string path = with_suffix(".live");
  CHECK_EQ(live::recover(path, problem), live::Recovered::kDrained);
  CHECK_EQ(problem, "");
  CHECK(!std::filesystem::exists(path));
  return packets::Trace(content(with_suffix(".part")));
}

}  // namespace

TEST("live recovery: nothing that was recorded before a kill is missing") {
  packets::Trace trace = killed([](Recording& recording) {
    for (int i = 0; i < 1000; ++i) {
      recording.writer->push(0, recording.named("drained"));
      recording.writer->pop(0, nullptr, 0);
    }
    recording.session->flush();
    for (int i = 0; i < 500; ++i) {
      recording.writer->push(0, recording.named("left"));
      recording.writer->pop(0, nullptr, 0);
    }
    recording.writer->push(0, recording.named("open"));
  });
  CHECK_EQ(count(trace, kBegin, "drained"), size_t{1000});
  CHECK_EQ(count(trace, kBegin, "left"), size_t{500});
  CHECK_EQ(count(trace, kEnd), size_t{1500});
  CHECK_EQ(summary(trace, "events"), "1501");
  CHECK_EQ(summary(trace, "ranges_left_open"), "1");
}

TEST("live recovery: a domain's track goes on and is described") {
  packets::Trace trace = killed([](Recording& recording) {
    uint32_t domain = 1;
    recording.registry.create_domain("kept");
    recording.writer->push(domain, recording.named("outer"));
    recording.session->flush();
    recording.writer->pop(domain, nullptr, 0);
  });
  CHECK_EQ(count(trace, kBegin, "outer"), size_t{1});
  std::string name;
  for (const auto& [uuid, track] : trace.tracks) {
    if (track.name.rfind("kept (", 0) == 0) {
      name = track.name;
      for (const packets::Event& event : trace.events) {
        if (event.name == "outer" || event.type == kEnd) CHECK_EQ(event.track, uuid);
      }
    }
  }
  CHECK(!name.empty());
}

TEST("live recovery: a live process's file is left alone") {
  Recording recording;
  std::string problem;
  std::string path = with_suffix(".live");
  CHECK_EQ(live::recover(path, problem), live::Recovered::kAlive);
  CHECK(std::filesystem::exists(path));
  recording.finish();
}

TEST("live recovery: a file that is none is refused") {
  std::string path = check::folder() + "/x.1.00000000.live";
  std::ofstream(path) << std::string(2 << 20, 'x');
  std::string problem;
  CHECK_EQ(live::recover(path, problem), live::Recovered::kFailed);
  CHECK(problem.find("no live file") != std::string::npos);
}

TEST("live join: every trace gets sequences of its own, and is cut at its last whole packet") {
  std::string inputs[2];
  for (int i = 0; i < 2; ++i) {
    Recording recording(64, "trace" + std::to_string(i));
    recording.writer->mark(0, recording.named(i ? "second" : "first"));
    recording.finish();
    inputs[i] = recording.output;
  }
  std::ofstream(inputs[0], std::ios::app) << '\n' << "\x7F" << "half a packet";
  std::string output = check::folder() + "/joined";
  live::JoinReport report;
  CHECK_EQ(live::join_traces({inputs[0], inputs[1]}, output, false, report), "");
  packets::Trace trace(content(output));
  CHECK_EQ(count(trace, kInstant, "first"), size_t{1});
  CHECK_EQ(count(trace, kInstant, "second"), size_t{1});
  CHECK_EQ(report.cuts.size(), size_t{1});
  CHECK_EQ(report.counts["events"], uint64_t{2});
  std::string again = live::join_traces({inputs[0]}, output, false, report);
  CHECK(again.find("exists already") != std::string::npos);
}
