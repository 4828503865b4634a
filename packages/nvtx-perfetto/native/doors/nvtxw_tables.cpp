// SPDX-License-Identifier: Apache-2.0
#include "doors/nvtxw_tables.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

namespace nvtx_perfetto {
namespace {

// Never freed: a thread may still hold a handle while the process ends.
std::atomic<NvtxwTables*> tables{nullptr};
std::atomic<uint8_t> epoch{0};

void watch_process() {
  static const bool watching = [] {
    pthread_atfork(nullptr, nullptr, [] {
      if (tables.exchange(nullptr)) epoch.fetch_add(1);
    });
    std::atexit([] { end_all_nvtxw_sessions(); });
    return true;
  }();
  static_cast<void>(watching);
}

// A forked child makes its tables when it needs them, and takes no lock that its parent may
// have held.
NvtxwTables* make_tables() {
  auto fresh = std::make_unique<NvtxwTables>(epoch.load());
  NvtxwTables* found = nullptr;
  return tables.compare_exchange_strong(found, fresh.get()) ? fresh.release() : found;
}

}  // namespace

NvtxwTables& nvtxw_tables() {
  NvtxwTables* found = tables.load(std::memory_order_acquire);
  if (found) return *found;
  watch_process();
  return *make_tables();
}

uint64_t NvtxwTables::domain_handle(const std::shared_ptr<Session>& session,
                                    const std::string& name) {
  uint64_t& handle = session->domain_handle(name);
  if (handle == 0) {
    handle =
        domains.add(std::make_shared<DomainEntry>(DomainEntry{session->domain(name), session}));
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
    session->refuse_more();
    streams = session->stream_handles();
    domains = session->domain_handles();
  }
  // Removing waits for calls that are under way.
  for (uint64_t stream : streams) all.streams.remove(stream);
  for (uint64_t domain : domains) all.domains.remove(domain);
  return session->end();
}

void end_all_nvtxw_sessions() {
  NvtxwTables* found = tables.load(std::memory_order_acquire);
  if (!found) return;
  NvtxwTables& all = *found;
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
