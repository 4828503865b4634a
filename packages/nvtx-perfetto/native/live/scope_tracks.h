// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "live/live_file.h"
#include "live/track_uuids.h"
#include "model/scope_path.h"
#include "perfetto/packet_buffer.h"

namespace nvtx_perfetto::live {

// The tracks that scopes stand for, each described once. Paths begin at the recording's process;
// `process[PID]` and, below it, `thread[TID]` are that process and thread.
class ScopeTracks {
 public:
  ScopeTracks(const LiveFile& file, PacketBuffer& out, uint32_t sequence);

  uint64_t path(const std::vector<ScopeNode>& path);
  // Of what belongs to no scope, and so not to the process either.
  uint64_t root();
  uint64_t process(uint64_t pid, const std::string& name = {});
  uint64_t thread(uint64_t pid, uint64_t tid, const std::string& name = {});

  // A thread of the recording. Of several with one id the last one counts, which has the
  // highest serial number.
  void know_thread(int32_t tid, uint64_t serial) {
    uint64_t& known = serials_[tid];
    known = std::max(known, serial);
  }
  bool knows_thread(uint64_t tid) const {
    return tid <= INT32_MAX && serials_.count(static_cast<int32_t>(tid)) != 0;
  }
  uint64_t own_thread(uint64_t serial) const { return uuids_.thread(serial); }
  uint64_t own_process() const { return uuids_.process(); }
  int32_t own_pid() const { return file_.header().pid; }
  const std::unordered_map<int32_t, uint64_t>& threads() const { return serials_; }

  // Nothing has been described.
  void forget() { described_.clear(); }

 private:
  struct Place {
    uint64_t uuid;
    uint64_t pid;  // of the process it lies in
    std::string path;
  };
  Place descend(const Place& from, const ScopeNode& node);
  uint64_t child(uint64_t parent, const std::string& path, const std::string& name);

  const LiveFile& file_;
  PacketBuffer& out_;
  const uint32_t sequence_;
  const TrackUuids uuids_;
  std::unordered_map<int32_t, uint64_t> serials_;
  std::unordered_set<uint64_t> described_;
};

}  // namespace nvtx_perfetto::live
