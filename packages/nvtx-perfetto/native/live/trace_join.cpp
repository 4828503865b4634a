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

#include "io/byte_buffer.h"
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
  std::string add(const std::string& path);
  std::string flush() {
    bool taken = pending_.empty() || out_.append(pending_.data(), pending_.size());
    pending_.clear();
    return taken ? std::string() : out_.problem();
  }

 private:
  std::string add_packet(std::string_view packet);
  void note_clock(std::string_view snapshot);

  PartFile& out_;
  JoinReport& report_;
  ByteBuffer pending_;
  ByteBuffer packet_;
  uint64_t base_ = 0;     // what this input's sequence ids are moved up by
  uint64_t highest_ = 0;  // sequence id in the output
  uint64_t clock_ = 0;    // that the output's times are on
  uint64_t input_clock_ = 0;
};

void Joiner::note_clock(std::string_view snapshot) {
  WireReader reader(snapshot);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kClockSnapshot_primary_trace_clock) input_clock_ = field.value;
  }
}

std::string Joiner::add_packet(std::string_view packet) {
  packet_.clear();
  WireReader reader(packet);
  WireField field;
  bool interned = false;
  while (reader.next(field)) {
    switch (field.number) {
      case kTracePacket_trusted_packet_sequence_id: {
        uint64_t id = base_ + field.value;
        if (id > UINT32_MAX) return "there are more packet sequences than a trace can number";
        highest_ = std::max(highest_, id);
        proto::add_varint(packet_, field.number, id);
        continue;
      }
      case kTracePacket_compressed_packets:
        return "it holds compressed packets, which are not written here";
      case kTracePacket_clock_snapshot: note_clock(field.bytes); break;
      case kTracePacket_interned_data: interned = true; break;
      default: break;
    }
    packet_.append(field.whole.data(), field.whole.size());
  }
  if (!reader.at_end()) return "a packet in it is broken";
  if (interned) read_summary(packet, report_.counts);
  proto::add_bytes(pending_, kTrace_packet, packet_.view());
  ++report_.packets;
  return pending_.size() >= kChunk ? flush() : std::string();
}

std::string Joiner::add(const std::string& path) {
  Mapped input;
  std::string problem = input.open(path);
  if (!problem.empty()) return problem;
  base_ = highest_;
  input_clock_ = 0;
  WireReader reader(input.bytes());
  WireField field;
  uint64_t before = report_.packets;
  while (reader.next(field)) {
    if (field.number != kTrace_packet || field.type != 2) return path + " is no Perfetto trace";
    problem = add_packet(field.bytes);
    if (!problem.empty()) return path + ": " + problem;
  }
  if (!reader.at_end()) {
    if (report_.packets == before) return path + " is no Perfetto trace";
    report_.cuts.push_back({path, reader.left().size()});
  }
  if (input_clock_ != 0 && clock_ != 0 && input_clock_ != clock_) {
    return path + " is on another clock (" + std::to_string(input_clock_) +
           ") than those before (" + std::to_string(clock_) +
           "), and nothing ties them; join traces of one clock";
  }
  if (clock_ == 0) clock_ = input_clock_;
  return {};
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
  for (size_t i = 0; i < inputs.size() && problem.empty(); ++i) problem = joiner.add(inputs[i]);
  if (problem.empty()) problem = joiner.flush();
  if (!out.close() && problem.empty()) problem = out.problem();
  if (problem.empty() && std::rename(unfinished.c_str(), output.c_str()) != 0) {
    problem = failure("renaming", unfinished, errno);
  }
  if (!problem.empty()) ::unlink(unfinished.c_str());
  return problem;
}

}  // namespace nvtx_perfetto::live
