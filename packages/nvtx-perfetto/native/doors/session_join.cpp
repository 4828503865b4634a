// SPDX-License-Identifier: Apache-2.0
#include "doors/session_join.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "live/wire_reader.h"
#include "perfetto/field_numbers.h"

namespace nvtx_perfetto {
namespace {

bool is_spill(const std::string& name) {
  std::string_view suffix = kSpillSuffix;
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// `.<pid>.<8 hex>.spill` and nothing else.
bool is_spill_ending(std::string_view ending) {
  constexpr size_t kHex = 8;
  size_t digits = 1;
  while (digits < ending.size() && std::isdigit(static_cast<unsigned char>(ending[digits]))) {
    ++digits;
  }
  if (digits < 2 || ending[0] != '.') return false;
  std::string_view rest = ending.substr(digits);
  return rest.size() == 1 + kHex + std::string_view(kSpillSuffix).size() && rest[0] == '.' &&
         std::all_of(rest.begin() + 1, rest.begin() + 1 + kHex,
                     [](unsigned char c) { return std::isxdigit(c) != 0; }) &&
         rest.substr(1 + kHex) == kSpillSuffix;
}

std::vector<std::string> spills_beside(const std::string& trace) {
  size_t slash = trace.rfind('/');
  std::string folder = slash == std::string::npos ? "" : trace.substr(0, slash + 1);
  std::string name = trace.substr(folder.size());
  std::vector<std::string> found;
  DIR* open = ::opendir(folder.empty() ? "." : folder.c_str());
  if (!open) return found;
  while (const dirent* entry = ::readdir(open)) {
    std::string_view other = entry->d_name;
    if (other.substr(0, name.size()) == name && is_spill_ending(other.substr(name.size()))) {
      found.push_back(folder + entry->d_name);
    }
  }
  ::closedir(open);
  std::sort(found.begin(), found.end());
  return found;
}

uint64_t size_of(const std::string& path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0 ? static_cast<uint64_t>(found.st_size) : 0;
}

// The seed in a trace's uuid, which stands right behind its header.
std::optional<uint64_t> seed_of(const std::string& trace) {
  using namespace field;
  char head[256];
  int fd = ::open(trace.c_str(), O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? 0 : ::read(fd, head, sizeof(head));
  if (fd >= 0) ::close(fd);
  live::WireReader packets({head, static_cast<size_t>(std::max<ssize_t>(size, 0))});
  live::WireField packet;
  live::WireField part;
  while (packets.next(packet)) {
    live::WireReader parts(packet.bytes);
    while (parts.next(part)) {
      if (part.number != kTracePacket_trace_uuid) continue;
      live::WireReader uuid(part.bytes);
      while (uuid.next(part)) {
        if (part.number == kTraceUuid_msb) return part.value;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

SessionJoin::~SessionJoin() {
  for (const std::string& path : unfinished_) ::unlink(path.c_str());
}

std::string SessionJoin::find(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::string problem = is_spill(path) ? add_spill(path, nullptr) : add_trace(path);
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string SessionJoin::add_trace(const std::string& path) {
  live::JoinInput trace(path);
  std::vector<live::JoinInput> before = std::move(inputs_);
  inputs_.clear();
  std::string problem;
  for (const std::string& spill : spills_beside(path)) {
    if (problem.empty()) problem = add_spill(spill, &trace);
  }
  // A trace that holds nothing names no clock, which the first one must.
  bool empty = !inputs_.empty() && (trace.limit == 0 || size_of(path) == 0);
  if (!empty) before.push_back(trace);
  before.insert(before.end(), inputs_.begin(), inputs_.end());
  inputs_ = std::move(before);
  return problem;
}

std::string SessionJoin::add_spill(const std::string& spill, live::JoinInput* trace) {
  auto session = std::make_unique<KilledSession>();
  switch (session->open(spill)) {
    case SpillReader::Found::kAlive: living_.push_back(spill); return {};
    case SpillReader::Found::kForeign:
      left_alone_.push_back(spill + " belongs to another host; join it there");
      return {};
    case SpillReader::Found::kUnreadable:
      left_alone_.push_back(spill + " holds nothing that this version can read");
      return {};
    case SpillReader::Found::kDead: break;
  }
  uint64_t output_size = 0;
  if (trace) {
    std::optional<uint64_t> seed = seed_of(trace->path);
    if (seed && *seed != session->seed()) {
      left_alone_.push_back(spill + " is of another session than " + trace->path +
                            ", which was written later; name it to join it");
      return {};
    }
    trace->limit = std::min(trace->limit, session->kept_output());
    output_size = std::min(size_of(trace->path), trace->limit);
  }
  unfinished_.push_back(output_ + "." + std::to_string(::getpid()) + "." +
                        std::to_string(unfinished_.size()) + ".recovered");
  std::string problem = session->write(unfinished_.back(), output_size);
  if (!problem.empty()) return spill + ": " + problem;
  inputs_.emplace_back(unfinished_.back());
  recovered_.push_back({session->rows(), spill});
  sessions_.push_back(std::move(session));
  return {};
}

void SessionJoin::remove_spills() {
  for (const auto& session : sessions_) session->remove();
}

}  // namespace nvtx_perfetto
