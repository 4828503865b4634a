// SPDX-License-Identifier: Apache-2.0
#include "live/trace_join.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>

#include "io/byte_buffer.h"
#include "live/host_snapshots.h"
#include "live/part_file.h"
#include "live/summary_reader.h"
#include "live/wire_reader.h"
#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"

namespace nvtx_perfetto::live {
namespace {

using namespace field;

constexpr uint32_t kTracePacket_compressed_packets = 50;
constexpr size_t kChunk = 1 << 20;

std::string failure(const char* doing, const std::string& path, int error) {
  return std::string(doing) + " " + path + " failed: " + std::strerror(error);
}

// The bytes of a file, mapped.
class Mapped {
 public:
  ~Mapped() {
    if (base_) ::munmap(base_, size_);
  }
  std::string open(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return failure("opening", path, errno);
    struct stat found;
    std::string problem;
    if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
      problem = path + " is no file";
    } else if (found.st_size > 0) {
      size_ = static_cast<size_t>(found.st_size);
      void* base = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (base == MAP_FAILED)
        problem = failure("mapping", path, errno);
      else
        base_ = base;
    }
    ::close(fd);
    return problem;
  }
  std::string_view bytes() const {
    return base_ ? std::string_view(static_cast<const char*>(base_), size_) : std::string_view();
  }

 private:
  void* base_ = nullptr;
  size_t size_ = 0;
};

class Joiner {
 public:
  Joiner(PartFile& out, JoinReport& report) : out_(out), report_(report) {}
  // Looks through all inputs before anything is written.
  std::string open(const std::vector<std::string>& paths);
  std::string write();

 private:
  struct Input {
    std::string path;
    Mapped file;
    std::string_view packets;  // as far as they are whole
  };

  std::string look_through(size_t index, Input& input);
  std::string check_clocks() const;
  std::string add_snapshots();
  std::string add(const Input& input);
  std::string add_packet(std::string_view packet);
  std::string flush();

  PartFile& out_;
  JoinReport& report_;
  std::deque<Input> inputs_;
  HostSnapshots snapshots_;
  ByteBuffer pending_;
  ByteBuffer packet_;
  uint64_t base_ = 0;     // what this input's sequence ids are moved up by
  uint64_t highest_ = 1;  // sequence id in the output; the first is that of the snapshots
};

std::string Joiner::open(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    inputs_.emplace_back();
    Input& input = inputs_.back();
    input.path = path;
    std::string problem = input.file.open(path);
    if (problem.empty()) problem = look_through(inputs_.size() - 1, input);
    if (!problem.empty()) return problem;
  }
  return check_clocks();
}

std::string Joiner::look_through(size_t index, Input& input) {
  WireReader reader(input.file.bytes());
  WireField field;
  bool any = false;
  while (reader.next(field)) {
    if (field.number != kTrace_packet || field.type != 2) break;
    any = true;
    WireReader inner(field.bytes);
    WireField part;
    while (inner.next(part)) {
      if (part.number == kTracePacket_clock_snapshot) snapshots_.add(index, part.bytes);
      if (part.number == kTracePacket_compressed_packets) {
        return input.path + " holds compressed packets, which cannot be joined";
      }
    }
    if (!inner.at_end()) return input.path + " holds a broken packet";
    input.packets = input.file.bytes().substr(0, input.file.bytes().size() - reader.left().size());
  }
  size_t rest = input.file.bytes().size() - input.packets.size();
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
  bool interned = false;
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
    interned |= field.number == kTracePacket_interned_data;
    packet_.append(field.whole.data(), field.whole.size());
  }
  if (interned) read_summary(packet, report_.counts);
  proto::add_bytes(pending_, kTrace_packet, packet_.view());
  ++report_.packets;
  return pending_.size() >= kChunk ? flush() : std::string();
}

std::string Joiner::add(const Input& input) {
  base_ = highest_;
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

std::string join_traces(const std::vector<std::string>& inputs, const std::string& output,
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
