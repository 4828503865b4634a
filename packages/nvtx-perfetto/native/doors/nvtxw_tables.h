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
  // `epoch`: how many forks lie between the first process and this one.
  explicit NvtxwTables(uint8_t epoch)
      : sessions(0xA1, first_generation(epoch)), domains(0xA2, first_generation(epoch)),
        streams(0xA3, first_generation(epoch)) {}

  static uint32_t first_generation(uint8_t epoch) { return uint32_t{epoch} << 24 | 1; }

  HandleTable<Session> sessions;
  HandleTable<DomainEntry> domains;
  HandleTable<Stream> streams;
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
