// SPDX-License-Identifier: Apache-2.0
#include "model/track_tree.h"

namespace nvtx_perfetto {
namespace {

constexpr size_t kChunk = 32 << 10;
// The engine cuts thread ids to 32 bits, and takes 0 for the idle task.
constexpr int64_t kMostId = INT32_MAX;

std::string id_name(const char* kind, uint64_t id) {
  return std::string(kind) + "[" + std::to_string(id) + "]";
}

}  // namespace

uint64_t TrackTree::id(Kind kind, uint64_t parent, std::string_view name, uint64_t number) const {
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  uint64_t mixed = seed_;
  for (uint64_t part : {static_cast<uint64_t>(kind), parent, hash, number}) {
    mixed = TrackIds(mixed + part).next();
  }
  return mixed;
}

uint64_t TrackTree::next_id(Kind kind, uint64_t parent, std::string_view name, uint64_t first) {
  uint64_t& before = alike_[id(kind, parent, name, first)];
  return id(kind, parent, name, first + before++);
}

uint64_t TrackTree::describe(uint64_t uuid, uint64_t parent, std::string_view name,
                             std::string_view description) {
  TrackDescription track;
  track.uuid = uuid;
  track.parent = parent;
  track.name = name;
  track.description = description;
  describe_track(packets_, sequence_, track);
  flush_if_full();
  return track.uuid;
}

void TrackTree::flush_if_full() {
  if (packets_.size() < kChunk) return;
  sink_.append(packets_.data(), packets_.size());
  packets_.clear();
}

void TrackTree::name_thread(uint64_t tid, std::string name) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [ids, row] : threads_) {
    if (static_cast<uint64_t>(ids.second) == tid) thread_in({0, ids.first}, ids.second, name);
  }
  thread_names_[tid] = std::move(name);
}

bool TrackTree::flush() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  bool good = packets_.empty() || sink_.append(packets_.data(), packets_.size());
  packets_.clear();
  return good;
}

TrackTree::Place TrackTree::root() {
  if (root_ == 0) root_ = describe(id(Kind::kRoot, 0, session_name_, 0), 0, session_name_, {});
  return {root_, 0};
}

TrackTree::Place TrackTree::process(int32_t pid, const std::string& name) {
  Row& row = processes_[pid];
  if (row.uuid == 0 || (!row.named && !name.empty())) {
    if (row.uuid == 0) row.uuid = id(Kind::kProcess, 0, {}, static_cast<uint64_t>(pid));
    row.named = !name.empty();
    describe_process(packets_, sequence_, row.uuid, pid, name);
    flush_if_full();
  }
  return {row.uuid, pid};
}

TrackTree::Place TrackTree::thread_in(const Place& process, int64_t tid, const std::string& name) {
  Row& row = threads_[{process.pid, tid}];
  if (row.uuid == 0 || (!row.named && !name.empty())) {
    if (row.uuid == 0) {
      row.uuid =
          id(Kind::kThread, static_cast<uint64_t>(process.pid), {}, static_cast<uint64_t>(tid));
    }
    auto known = thread_names_.find(static_cast<uint64_t>(tid));
    bool borrow = name.empty() && known != thread_names_.end();
    const std::string& shown = borrow ? known->second : name;
    row.named = !shown.empty();
    describe_thread(packets_, sequence_, row.uuid, process.pid, tid, shown);
    flush_if_full();
  }
  return {row.uuid, process.pid};
}

TrackTree::Place TrackTree::named_child(const Place& parent, const std::string& name) {
  auto found = children_.find({parent.uuid, name});
  if (found == children_.end()) {
    uint64_t uuid = describe(id(Kind::kChild, parent.uuid, name, 0), parent.uuid, name, {});
    found = children_.emplace(std::make_pair(parent.uuid, name), uuid).first;
  }
  return {found->second, parent.pid};
}

TrackTree::Place TrackTree::descend(const Place& from, const ScopeNode& node) {
  int64_t id = numeric_key(node, kMostId);
  if (node.name == "process" && id > 0) return process(static_cast<int32_t>(id), node.rest);
  if (node.name == "thread" && id > 0 && from.pid > 0) return thread_in(from, id, node.rest);
  bool is_row = (node.name == "process" || node.name == "thread") && !node.rest.empty();
  return named_child(from.uuid ? from : root(), is_row ? node.rest : node.text());
}

uint64_t TrackTree::scope(const std::vector<ScopeNode>& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  Place place;
  for (const ScopeNode& node : path) place = descend(place, node);
  return place.uuid ? place.uuid : root().uuid;
}

uint64_t TrackTree::thread(const std::vector<ScopeNode>& from, uint64_t pid, bool has_pid,
                           uint64_t tid, bool has_tid) {
  std::lock_guard<std::mutex> lock(mutex_);
  Place place;
  for (const ScopeNode& node : from) place = descend(place, node);
  if (has_pid) {
    bool plain = pid == 0 || pid > static_cast<uint64_t>(kMostId);
    place = plain ? named_child(place.uuid ? place : root(), id_name("process", pid))
                  : process(static_cast<int32_t>(pid), {});
  }
  if (has_tid) {
    bool plain = tid == 0 || tid > static_cast<uint64_t>(kMostId) || place.pid == 0;
    place = plain ? named_child(place.uuid ? place : root(), id_name("thread", tid))
                  : thread_in(place, static_cast<int64_t>(tid), {});
  }
  return place.uuid ? place.uuid : root().uuid;
}

uint64_t TrackTree::add(uint64_t parent, std::string_view name, std::string_view description) {
  std::lock_guard<std::mutex> lock(mutex_);
  return describe(next_id(Kind::kOwn, parent, name, 0), parent, name, description);
}

uint64_t TrackTree::add_lane(uint64_t parent, std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  return describe(next_id(Kind::kLane, parent, name, first_lane_), parent, name, {});
}

uint64_t TrackTree::counter(uint64_t parent, std::string_view name, std::string_view description,
                            const CounterDescription& details, uint64_t owner) {
  std::lock_guard<std::mutex> lock(mutex_);
  TrackDescription track;
  track.uuid = id(Kind::kCounter, parent, name, owner);
  track.parent = parent;
  track.name = name;
  track.description = description;
  if (counters_.insert(track.uuid).second) {
    describe_counter(packets_, sequence_, track, details);
    flush_if_full();
  }
  return track.uuid;
}

}  // namespace nvtx_perfetto
