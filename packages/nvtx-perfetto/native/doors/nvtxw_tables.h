// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "model/handle_table.h"
#include "model/session.h"
#include "model/stream.h"

namespace nvtx_perfetto {

// A domain and the session that owns it.
struct DomainEntry {
  std::shared_ptr<Domain> domain;
  std::shared_ptr<Session> session;
};

// All that NVTXW handles of this process stand for. A forked child has tables of its own,
// so that inherited handles find nothing there, whatever their parent was doing.
struct NvtxwTables {
  HandleTable<Session> sessions{0xA1};
  HandleTable<DomainEntry> domains{0xA2};
  HandleTable<Stream> streams{0xA3};
  std::mutex mutex;
  std::set<uint64_t> open_sessions;

  // The handle of a session's domain, made if need be. The session's mutex must be held.
  uint64_t domain_handle(const std::shared_ptr<Session>& session, const std::string& name);
};

NvtxwTables& nvtxw_tables();

// Ends a session and makes all its handles void.
Status end_nvtxw_session(NvtxwTables& tables, uint64_t handle);
void end_all_nvtxw_sessions();

}  // namespace nvtx_perfetto
