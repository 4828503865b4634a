// SPDX-License-Identifier: Apache-2.0
// The thread that drains what others record.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "live_recording.h"

using namespace recording;

namespace {

std::set<std::string> tasks() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    found.insert(entry.path());
  }
  return found;
}

// The signals that a thread does not take, a bit each.
uint64_t blocked(const std::string& task) {
  std::string status = content(task + "/status");
  size_t at = status.find("SigBlk:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 16);
}

}  // namespace

TEST("live writer thread: the program's signals are not for it") {
  std::set<std::string> before = tasks();
  Recording recording(64, "trace", true);
  int added = 0;
  for (const std::string& task : tasks()) {
    if (before.count(task)) continue;
    ++added;
    for (int signal : {SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGPROF, SIGUSR1, SIGRTMIN}) {
      CHECK((blocked(task) >> (signal - 1) & 1) == 1);
    }
  }
  CHECK_EQ(added, 1);
  recording.finish();
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK_EQ(::sigismember(&own, SIGTERM), 0);
}

TEST("live writer thread: it drains and frees buffers while threads record") {
  constexpr uint32_t kChunks = 32;
  Recording recording(kChunks, "trace", true);
  live::EventInput nameless;
  uint64_t ranges = 0;
  live::Stats stats = {};
  // Without it, the buffers would be full long before this ends.
  while (stats.events < 2 * kChunks * live::kChunkSize / (2 * live::kPopSize)) {
    for (int i = 0; i < 1000; ++i) {
      recording.writer->push(0, nameless);
      recording.writer->pop(0, nullptr, 0);
    }
    ranges += 1000;
    stats = recording.session->stats();
    if (stats.dropped > 0) break;
  }
  CHECK_EQ(stats.dropped, uint64_t{0});
  packets::Trace trace = recording.finish();
  CHECK_EQ(summary(trace, "events"), std::to_string(ranges));
}
