// SPDX-License-Identifier: Apache-2.0
#include "live/process_merge.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"

namespace nvtx_perfetto::live {
namespace {

using namespace field;

// Every process image works out its process's start anew, by a clock that may have been set.
constexpr int64_t kSameStart = 1'000'000'000;

}  // namespace

void ProcessMerge::add(size_t input, std::string_view descriptor) {
  Described found{input, 0, 0, 0, 0};
  bool process = false;
  bool thread = false;
  WireReader reader(descriptor);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kTrackDescriptor_uuid) found.uuid = field.value;
    process |= field.number == kTrackDescriptor_process;
    thread |= field.number == kTrackDescriptor_thread;
    bool body = field.number == kTrackDescriptor_process || field.number == kTrackDescriptor_thread;
    if (!body) continue;
    WireReader inner(field.bytes);
    WireField part;
    while (inner.next(part)) {
      if (part.number == kProcessDescriptor_pid) found.pid = part.value;
      if (thread && part.number == kThreadDescriptor_tid) found.tid = part.value;
      if (process && part.number == kProcessDescriptor_start_timestamp_ns) {
        found.start = static_cast<int64_t>(part.value);
      }
    }
  }
  if (process) processes_.push_back(found);
  if (thread) threads_.push_back(found);
}

uint64_t ProcessMerge::id_of(uint64_t uuid) const {
  auto found = ids_.find(uuid);
  return found == ids_.end() ? uuid : found->second;
}

bool ProcessMerge::is_live(size_t input) const {
  return std::any_of(processes_.begin(), processes_.end(), [input](const Described& process) {
    return process.input == input && process.start != 0;
  });
}

void ProcessMerge::settle(const MayMatch& may_match) {
  // Those that say when they started come first, so that others find all there are.
  std::stable_partition(processes_.begin(), processes_.end(),
                        [](const Described& process) { return process.start != 0; });
  settle_processes(may_match);
  settle_threads();
}

void ProcessMerge::settle_processes(const MayMatch& may_match) {
  std::vector<const Described*> distinct;
  for (const Described& process : processes_) {
    std::vector<const Described*> same;
    for (const Described* other : distinct) {
      bool one = other->uuid == process.uuid || other->pid == process.pid;
      bool apart = process.start != 0 && other->start != 0 &&
                   std::abs(process.start - other->start) > kSameStart;
      if (one && !apart && may_match(other->input, process.input)) same.push_back(other);
    }
    // Of several that fit, none can be told to be the one.
    if (same.size() != 1)
      distinct.push_back(&process);
    else if (same[0]->uuid != process.uuid)
      ids_[process.uuid] = same[0]->uuid;
  }
}

void ProcessMerge::settle_threads() {
  std::map<std::pair<size_t, uint64_t>, uint64_t> process_ids;
  for (const Described& process : processes_) {
    process_ids[{process.input, process.pid}] = id_of(process.uuid);
  }
  std::map<std::pair<uint64_t, uint64_t>, std::vector<const Described*>> threads;
  for (const Described& thread : threads_) {
    auto process = process_ids.find({thread.input, thread.pid});
    if (process == process_ids.end()) continue;
    threads[{process->second, thread.tid}].push_back(&thread);
  }
  for (const auto& [ids, same] : threads) settle_thread(same);
}

void ProcessMerge::settle_thread(const std::vector<const Described*>& same) {
  std::set<std::pair<size_t, uint64_t>> distinct;
  std::set<size_t> inputs;
  bool left_open = false;
  size_t live = 0;
  for (const Described* thread : same) {
    distinct.emplace(thread->input, thread->uuid);
    if (!inputs.insert(thread->input).second) continue;
    live += is_live(thread->input);
    left_open |= std::count(left_open_.begin(), left_open_.end(), thread->input) != 0;
  }
  // An id that one trace gives to two threads is no help.
  if (distinct.size() != inputs.size() || (live > 1 && left_open)) return;
  for (const Described* thread : same) {
    if (thread->uuid != same[0]->uuid) ids_[thread->uuid] = same[0]->uuid;
  }
}

void ProcessMerge::append_message(ByteBuffer& out, uint32_t number, std::string_view bytes,
                                  const std::vector<uint32_t>& id_fields) const {
  size_t message = proto::open_message(out, number);
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    bool id = std::count(id_fields.begin(), id_fields.end(), field.number) != 0;
    if (id)
      proto::add_varint(out, field.number, id_of(field.value));
    else if (number == kTracePacket_trace_packet_defaults &&
             field.number == kTracePacketDefaults_track_event_defaults)
      append_message(out, field.number, field.bytes, {kTrackEventDefaults_track_uuid});
    else
      out.append(field.whole.data(), field.whole.size());
  }
  proto::close_message(out, message);
}

void ProcessMerge::append(ByteBuffer& packet, const WireField& field) const {
  switch (field.number) {
    case kTracePacket_track_descriptor:
      return append_message(packet, field.number, field.bytes,
                            {kTrackDescriptor_uuid, kTrackDescriptor_parent_uuid});
    case kTracePacket_trace_packet_defaults:
      return append_message(packet, field.number, field.bytes, {});
    default: packet.append(field.whole.data(), field.whole.size());
  }
}

}  // namespace nvtx_perfetto::live
