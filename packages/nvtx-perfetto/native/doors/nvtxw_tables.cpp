// SPDX-License-Identifier: Apache-2.0
#include "doors/nvtxw_tables.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <vector>

namespace nvtx_perfetto {
namespace {

// Never freed: a thread may still hold a handle while the process ends.
std::atomic<NvtxwTables*> tables{nullptr};

NvtxwTables* first_tables() {
  static NvtxwTables* made = [] {
    auto* fresh = new NvtxwTables;
    tables.store(fresh, std::memory_order_release);
    pthread_atfork(nullptr, nullptr, [] {
      tables.store(new NvtxwTables, std::memory_order_release);
    });
    std::atexit([] { end_all_nvtxw_sessions(); });
    return fresh;
  }();
  return made;
}

}  // namespace

NvtxwTables& nvtxw_tables() {
  NvtxwTables* found = tables.load(std::memory_order_acquire);
  return found ? *found : *first_tables();
}

uint64_t NvtxwTables::domain_handle(const std::shared_ptr<Session>& session,
                                    const std::string& name) {
  uint64_t& handle = session->domain_handle(name);
  if (handle == 0) {
    handle = domains.add(std::make_shared<DomainEntry>(
        DomainEntry{session->domain(name), session}));
  }
  return handle;
}

Status end_nvtxw_session(NvtxwTables& all, uint64_t handle) {
  std::shared_ptr<Session> session = all.sessions.remove(handle);
  if (!session) return fail(Status::kInvalid, "the session handle is none, or has ended");
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    all.open_sessions.erase(handle);
  }
  std::vector<uint64_t> streams;
  std::vector<uint64_t> domains;
  {
    std::lock_guard<std::mutex> lock(session->mutex());
    streams = session->stream_handles();
    domains = session->domain_handles();
  }
  // Removing waits for calls that are under way.
  for (uint64_t stream : streams) all.streams.remove(stream);
  for (uint64_t domain : domains) all.domains.remove(domain);
  return session->end();
}

void end_all_nvtxw_sessions() {
  NvtxwTables& all = nvtxw_tables();
  for (;;) {
    uint64_t handle = 0;
    {
      std::lock_guard<std::mutex> lock(all.mutex);
      if (all.open_sessions.empty()) return;
      handle = *all.open_sessions.begin();
      all.open_sessions.erase(all.open_sessions.begin());
    }
    try {
      end_nvtxw_session(all, handle);
    } catch (...) {  // at exit there is nobody to tell
    }
  }
}

}  // namespace nvtx_perfetto
