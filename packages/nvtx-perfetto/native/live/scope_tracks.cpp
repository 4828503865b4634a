// SPDX-License-Identifier: Apache-2.0
#include "live/scope_tracks.h"

#include "perfetto/tracks.h"

namespace nvtx_perfetto::live {
namespace {

const std::string kRootName = "deferred events";
// The engine cuts thread ids to 32 bits, and takes 0 for the idle task.
constexpr uint64_t kMostId = INT32_MAX;

std::string id_name(const char* kind, uint64_t id) {
  return std::string(kind) + "[" + std::to_string(id) + "]";
}

}  // namespace

ScopeTracks::ScopeTracks(const LiveFile& file, PacketBuffer& out, uint32_t sequence)
    : file_(file), out_(out), sequence_(sequence), uuids_(file.header().seed) {}

uint64_t ScopeTracks::child(uint64_t parent, const std::string& path, const std::string& name) {
  TrackDescription track;
  track.uuid = uuids_.scope(path);
  track.parent = parent;
  track.name = name;
  if (described_.insert(track.uuid).second) describe_track(out_.bytes(), sequence_, track);
  return track.uuid;
}

uint64_t ScopeTracks::root() { return child(0, {}, kRootName); }

uint64_t ScopeTracks::process(uint64_t pid, const std::string& name) {
  if (pid == static_cast<uint64_t>(own_pid())) return uuids_.process();
  if (pid == 0 || pid > kMostId)
    return child(root(), id_name("/process", pid), id_name("process", pid));
  uint64_t uuid = uuids_.other_process(pid);
  if (described_.insert(uuid).second) {
    describe_process(out_.bytes(), sequence_, uuid, static_cast<int32_t>(pid), name);
  }
  return uuid;
}

uint64_t ScopeTracks::thread(uint64_t pid, uint64_t tid, const std::string& name) {
  uint64_t parent = process(pid);
  if (tid == 0 || tid > kMostId || pid == 0 || pid > kMostId) {
    return child(parent, id_name("/process", pid) + id_name("/thread", tid),
                 id_name("thread", tid));
  }
  if (pid == static_cast<uint64_t>(own_pid()) && knows_thread(tid)) {
    return uuids_.thread(serials_[static_cast<int32_t>(tid)]);
  }
  uint64_t uuid = uuids_.other_thread(pid, tid);
  if (described_.insert(uuid).second) {
    describe_thread(out_.bytes(), sequence_, uuid, static_cast<int32_t>(pid),
                    static_cast<int64_t>(tid), name);
  }
  return uuid;
}

ScopeTracks::Place ScopeTracks::descend(const Place& from, const ScopeNode& node) {
  auto id = static_cast<uint64_t>(numeric_key(node, static_cast<int64_t>(kMostId)));
  std::string path = from.path + '/' + node.text();
  if (node.name == "process" && id != 0) return {process(id, node.rest), id, path};
  if (node.name == "thread" && id != 0) return {thread(from.pid, id, node.rest), from.pid, path};
  return {child(from.uuid, path, node.text()), from.pid, path};
}

uint64_t ScopeTracks::path(const std::vector<ScopeNode>& path) {
  Place place{uuids_.process(), static_cast<uint64_t>(own_pid()), {}};
  for (const ScopeNode& node : path) place = descend(place, node);
  return place.uuid;
}

}  // namespace nvtx_perfetto::live
