// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "live/configuration.h"
#include "live/registry.h"
#include "live/session.h"
#include "live/thread_writer.h"
#include "live/timer_sources.h"

namespace nvtx_perfetto::live {

// Live recording in this process: made by the first NVTX copy that asks, never destroyed, since
// NVTX may be called until the very end. Its session opens at the first event, so that a
// process without events leaves nothing behind, and again in every forked child.
class Recorder {
 public:
  // Thread-safe; reads the environment at the first call.
  static Recorder& get();
  // Null before the first NVTX copy has asked.
  static Recorder* existing() { return instance_.load(std::memory_order_acquire); }

  Registry& registry() { return registry_; }
  TimerSources& timers() { return timers_; }

  // The calling thread's buffer; null when nothing is recorded (any more).
  ThreadWriter* writer() {
    ThreadWriter* own = own_writer_;
    Session* session = session_.load(std::memory_order_acquire);
    return own && session && own->session() == session ? own : attach();
  }

  // REALTIME on the recording's timeline.
  int64_t now() const { return boottime() + realtime_offset_; }

  // As nvtx_perfetto_flush answers.
  int flush_now();
  // False when nothing is recorded.
  bool stats(Stats& stats);
  void finish();

 private:
  enum class State : uint8_t { kFresh, kOpen, kFailed, kClosed };

  Recorder();
  ThreadWriter* attach();
  Session* open_session();

  static void prepare_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  static void thread_ends(void* writer);

  static std::atomic<Recorder*> instance_;
  static thread_local ThreadWriter* own_writer_;

  const Configuration configuration_;
  const int64_t realtime_offset_;
  Registry registry_;
  TimerSources timers_;
  std::atomic<Session*> session_{nullptr};
  std::atomic<State> state_{State::kFresh};
  std::mutex opening_;
  // Never freed, since threads may be inside one until the end; those of parents included.
  std::vector<Session*> sessions_;
  bool forked_ = false;
  pthread_key_t thread_end_ = {};
};

}  // namespace nvtx_perfetto::live
