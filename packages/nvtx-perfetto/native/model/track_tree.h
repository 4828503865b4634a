// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_buffer.h"
#include "io/sink.h"
#include "model/scope_path.h"
#include "perfetto/tracks.h"

namespace nvtx_perfetto {

// The tracks of one session: a root named after it, scopes merged by path below, processes
// and threads beside it. Describes every track once. Safe to use from several threads.
class TrackTree {
 public:
  // What a track is and the seed give its id, whatever order tracks come in. `again`: this
  // tree grows beside another of that seed, whose lanes are left alone.
  TrackTree(Sink& sink, uint32_t sequence, uint64_t seed, std::string session_name,
            bool again = false)
      : sink_(sink), sequence_(sequence), seed_(seed), session_name_(std::move(session_name)),
        first_lane_(again ? uint64_t{1} << 32 : 0) {}

  // The track that a scope path stands for; the session's own for an empty path. `process[PID]`
  // and, below it, `thread[TID]` stand for that process and thread.
  uint64_t scope(const std::vector<ScopeNode>& path);
  // The thread (or, without `tid`, the process) of ids found in a payload, seen from a scope:
  // without `pid`, the process is the scope's.
  uint64_t thread(const std::vector<ScopeNode>& from, uint64_t pid, bool has_pid, uint64_t tid,
                  bool has_tid);

  // A track of its own, whatever others there are.
  uint64_t add(uint64_t parent, std::string_view name, std::string_view description = {});
  // The same, for rows that found no place on another.
  uint64_t add_lane(uint64_t parent, std::string_view name);
  // The track of a counter's field below a parent, whoever feeds it. `owner` tells fields of
  // one name apart.
  uint64_t counter(uint64_t parent, std::string_view name, std::string_view description,
                   const CounterDescription& details, uint64_t owner);
  // A track without a parent.
  uint64_t add_root(std::string_view name) { return add(0, name); }

  // What to call threads that come without a name, or came without one.
  void name_thread(uint64_t tid, std::string name);

  bool flush() noexcept;

 private:
  struct Place {
    uint64_t uuid = 0;
    int32_t pid = 0;  // of the process it lies in, or 0
  };

  Place descend(const Place& from, const ScopeNode& node);
  // A process or thread that has been described, and whether with a name.
  struct Row {
    uint64_t uuid = 0;
    bool named = false;
  };
  Place root();
  Place process(int32_t pid, const std::string& name);
  Place named_child(const Place& parent, const std::string& name);
  Place thread_in(const Place& process, int64_t tid, const std::string& name);
  enum class Kind : uint64_t { kRoot = 1, kProcess, kThread, kChild, kOwn, kLane, kCounter };
  uint64_t id(Kind kind, uint64_t parent, std::string_view name, uint64_t number) const;
  // As id(), for tracks that may be alike in all else.
  uint64_t next_id(Kind kind, uint64_t parent, std::string_view name, uint64_t first);
  uint64_t describe(uint64_t uuid, uint64_t parent, std::string_view name,
                    std::string_view description);
  void flush_if_full();

  Sink& sink_;
  const uint32_t sequence_;
  const uint64_t seed_;
  const std::string session_name_;
  const uint64_t first_lane_;
  std::mutex mutex_;
  ByteBuffer packets_;
  uint64_t root_ = 0;
  std::map<int32_t, Row> processes_;
  std::map<std::pair<int32_t, int64_t>, Row> threads_;
  std::map<std::pair<uint64_t, std::string>, uint64_t> children_;
  std::set<uint64_t> counters_;
  std::map<uint64_t, std::string> thread_names_;
  std::map<uint64_t, uint64_t> alike_;  // how many there are so far, by the first one's id
};

// Where the packets of streams go: the descriptors first, since the engine must know a counter
// track before it reads a sample.
class DescribedSink final : public Sink {
 public:
  DescribedSink(TrackTree& tracks, Sink& file) : tracks_(tracks), file_(file) {}
  bool append(const void* packets, size_t size) noexcept override {
    return tracks_.flush() && file_.append(packets, size);
  }
  bool open_for_events() const noexcept override { return file_.open_for_events(); }

 private:
  TrackTree& tracks_;
  Sink& file_;
};

}  // namespace nvtx_perfetto
