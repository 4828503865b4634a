// SPDX-License-Identifier: Apache-2.0
#include "live/trace_join.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>

#include "io/byte_buffer.h"
#include "live/host_snapshots.h"
#include "live/mapped_file.h"
#include "live/part_file.h"
#include "live/process_merge.h"
#include "live/summary_reader.h"
#include "live/wire_reader.h"
#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"

namespace nvtx_perfetto::live {
namespace {

using namespace field;

constexpr uint32_t kTracePacket_compressed_packets = 50;
constexpr size_t kChunk = 1 << 20;
const std::string kLeftOpen = "ranges_left_open";

// A look at the bytes tells which events are worth taking apart.
bool has_flows(std::string_view event) {
  constexpr char kTag[] = {'\xF9', '\x02'};  // flow_ids, fixed64
  static_assert(kTrackEvent_flow_ids == 47);
  return event.find(std::string_view(kTag, sizeof(kTag))) != std::string_view::npos;
}

std::string failure(const char* doing, const std::string& path, int error) {
  return std::string(doing) + " " + path + " failed: " + std::strerror(error);
}

class Joiner {
 public:
  Joiner(PartFile& out, JoinReport& report) : out_(out), report_(report) {}
  // Looks through all inputs before anything is written.
  std::string open(const std::vector<JoinInput>& inputs);
  std::string write();

 private:
  struct Input {
    std::string path;
    MappedFile file;
    std::string_view bytes;
    std::string_view packets;  // as far as they are whole
    std::map<std::string, uint64_t> counts;
  };

  std::string look_through(size_t index, Input& input);
  std::string check_clocks() const;
  std::string add_snapshots();
  std::string add(const Input& input);
  std::string add_packet(std::string_view packet);
  void add_flow_event(std::string_view event);
  std::string flush();

  PartFile& out_;
  JoinReport& report_;
  std::deque<Input> inputs_;
  HostSnapshots snapshots_;
  ProcessMerge processes_;
  ByteBuffer pending_;
  ByteBuffer packet_;
  uint64_t base_ = 0;  // what this input's sequence ids are moved up by
  uint64_t flow_base_ = 0;
  uint64_t highest_flow_ = 0;
  uint64_t highest_ = 1;  // sequence id in the output; the first is that of the snapshots
};

std::string Joiner::open(const std::vector<JoinInput>& inputs) {
  for (const JoinInput& given : inputs) {
    inputs_.emplace_back();
    Input& input = inputs_.back();
    input.path = given.path;
    std::string problem = input.file.open(given.path);
    input.bytes = input.file.bytes().substr(0, given.limit);
    if (problem.empty()) problem = look_through(inputs_.size() - 1, input);
    if (!problem.empty()) return problem;
  }
  processes_.settle([this](size_t a, size_t b) { return snapshots_.may_match(a, b); });
  return check_clocks();
}

std::string Joiner::look_through(size_t index, Input& input) {
  WireReader reader(input.bytes);
  WireField field;
  bool any = false;
  while (reader.next(field)) {
    if (field.number != kTrace_packet || field.type != 2) break;
    any = true;
    WireReader inner(field.bytes);
    WireField part;
    while (inner.next(part)) {
      if (part.number == kTracePacket_clock_snapshot) snapshots_.add(index, part.bytes);
      if (part.number == kTracePacket_track_descriptor) processes_.add(index, part.bytes);
      if (part.number == kTracePacket_interned_data) read_summary(field.bytes, input.counts);
      if (part.number == kTracePacket_compressed_packets) {
        return input.path + " holds compressed packets, which cannot be joined";
      }
    }
    if (!inner.at_end()) return input.path + " holds a broken packet";
    input.packets = input.bytes.substr(0, input.bytes.size() - reader.left().size());
  }
  if (input.counts.count(kLeftOpen)) processes_.note_left_open(index);
  for (const auto& [name, count] : input.counts) report_.counts[name] += count;
  size_t rest = input.bytes.size() - input.packets.size();
  if (rest > 0 && !any) return input.path + " is no Perfetto trace";
  if (rest > 0) report_.cuts.push_back({input.path, rest});
  return {};
}

std::string Joiner::check_clocks() const {
  uint64_t clock = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    uint64_t own = snapshots_.primary(i);
    if (own != 0 && clock != 0 && own != clock) {
      return inputs_[i].path + " is on another clock (" + std::to_string(own) +
             ") than those before (" + std::to_string(clock) +
             "), and nothing ties them; join traces of one clock";
    }
    if (clock == 0) clock = own;
  }
  return {};
}

std::string Joiner::add_snapshots() {
  std::string problem;
  for (std::string_view snapshot : snapshots_.chosen(problem)) {
    packet_.clear();
    proto::add_varint(packet_, kTracePacket_trusted_packet_sequence_id, 1);
    proto::add_bytes(packet_, kTracePacket_clock_snapshot, snapshot);
    proto::add_bytes(pending_, kTrace_packet, packet_.view());
    ++report_.packets;
  }
  return problem;
}

std::string Joiner::add_packet(std::string_view packet) {
  packet_.clear();
  WireReader reader(packet);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kTracePacket_trusted_packet_sequence_id) {
      uint64_t id = base_ + field.value;
      if (id > UINT32_MAX) return "there are more packet sequences than a trace can number";
      highest_ = std::max(highest_, id);
      proto::add_varint(packet_, field.number, id);
      continue;
    }
    if (field.number == kTracePacket_clock_snapshot &&
        HostSnapshots::kind_of(field.bytes) == HostSnapshots::Kind::kHost) {
      return {};
    }
    if (field.number == kTracePacket_track_event && has_flows(field.bytes)) {
      add_flow_event(field.bytes);
    } else {
      processes_.append(packet_, field);
    }
  }
  proto::add_bytes(pending_, kTrace_packet, packet_.view());
  ++report_.packets;
  return pending_.size() >= kChunk ? flush() : std::string();
}

// Arrows of one trace have nothing to do with those of another.
void Joiner::add_flow_event(std::string_view event) {
  size_t message = proto::open_message(packet_, kTracePacket_track_event);
  WireReader reader(event);
  WireField field;
  while (reader.next(field)) {
    if (field.number != kTrackEvent_flow_ids || field.type != 1) {
      packet_.append(field.whole.data(), field.whole.size());
      continue;
    }
    uint64_t id = flow_base_ + field.value;
    highest_flow_ = std::max(highest_flow_, id);
    proto::add_fixed64(packet_, kTrackEvent_flow_ids, id);
  }
  proto::close_message(packet_, message);
}

std::string Joiner::add(const Input& input) {
  base_ = highest_;
  flow_base_ = highest_flow_;
  WireReader reader(input.packets);
  WireField field;
  bool first = true;
  while (reader.next(field)) {
    std::string problem = add_packet(field.bytes);
    // The trace's clock has to be named before any snapshot.
    if (first && &input == &inputs_.front() && problem.empty()) problem = add_snapshots();
    first = false;
    if (!problem.empty()) return input.path + ": " + problem;
  }
  return {};
}

std::string Joiner::write() {
  for (const Input& input : inputs_) {
    std::string problem = add(input);
    if (!problem.empty()) return problem;
  }
  return flush();
}

std::string Joiner::flush() {
  bool taken = pending_.empty() || out_.append(pending_.data(), pending_.size());
  pending_.clear();
  return taken ? std::string() : out_.problem();
}

}  // namespace

std::string join_traces(const std::vector<JoinInput>& inputs, const std::string& output,
                        bool overwrite, JoinReport& report) {
  if (!overwrite && ::access(output.c_str(), F_OK) == 0) {
    return "the output " + output + " exists already; choose another one or overwrite it (-f)";
  }
  std::string unfinished = output + "." + std::to_string(::getpid()) + ".joining";
  PartFile out;
  std::string problem = out.create(unfinished);
  if (!problem.empty()) return problem;
  Joiner joiner(out, report);
  problem = joiner.open(inputs);
  if (problem.empty()) problem = joiner.write();
  if (!out.close() && problem.empty()) problem = out.problem();
  if (problem.empty() && std::rename(unfinished.c_str(), output.c_str()) != 0) {
    problem = failure("renaming", unfinished, errno);
  }
  if (!problem.empty()) ::unlink(unfinished.c_str());
  return problem;
}

}  // namespace nvtx_perfetto::live
