// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "live/chunk_pool.h"
#include "live/configuration.h"
#include "live/definition.h"
#include "live/drain.h"
#include "live/live_file.h"
#include "live/output_claim.h"
#include "live/part_file.h"
#include "live/range_table.h"

namespace nvtx_perfetto::live {

struct Stats {
  uint64_t threads;  // recording now
  uint64_t events;   // in the part
  uint64_t samples;
  uint64_t dropped;
  uint64_t buffer_bytes;
  uint64_t part_bytes;
};

// The recording of one process image: its live file, its part, and the thread that drains the
// one into the other. Forked children have one of their own.
class Session {
 public:
  Session() { ::sem_init(&wake_, 0, 0); }
  ~Session() { ::sem_destroy(&wake_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Empty on success, else what went wrong. `may_claim`: this process may write the output itself.
  std::string open(const Configuration& configuration, int64_t realtime_offset, bool may_claim,
                   Registry& registry);

  LiveFile& file() { return file_; }
  ChunkPool& pool() { return *pool_; }
  RangeTable& ranges() { return *ranges_; }

  // A slot for the calling thread, or null when all are taken.
  ThreadSlot* claim_slot();
  void release_slot(ThreadSlot* slot) { slot->state.store(kSlotFree, std::memory_order_release); }
  void thread_ended();
  // Asks for a drain soon. Neither blocks nor allocates.
  void wake() {
    if (!awake_.exchange(true, std::memory_order_relaxed)) ::sem_post(&wake_);
  }

  // Drains now. False when the part could not be written.
  bool flush();
  // Ends the recording; what comes later is lost. Returns what went wrong, or nothing.
  std::string finish(Registry& registry);
  void abandon_in_child();
  Stats stats();

 private:
  std::string open_files(const Configuration& configuration, bool may_claim);
  void fill_header(const Configuration& configuration, int64_t realtime_offset);
  bool start_thread();
  void stop_thread();
  static void* run_thread(void* self);
  void recycle();

  LiveFile file_;
  PartFile part_;
  OutputClaim claim_;
  std::string output_;
  std::string note_;
  std::unique_ptr<ChunkPool> pool_;
  std::unique_ptr<RangeTable> ranges_;
  std::unique_ptr<DefinitionWriter> definitions_;
  std::unique_ptr<Drain> drain_;
  std::mutex draining_;
  std::atomic<uint64_t> next_serial_{1};
  std::atomic<uint32_t> next_slot_{0};
  std::atomic<uint32_t> ended_threads_{0};
  std::atomic<bool> awake_{false};
  std::atomic<bool> stopping_{false};
  bool thread_runs_ = false;
  pthread_t thread_ = {};
  sem_t wake_;
};

}  // namespace nvtx_perfetto::live
