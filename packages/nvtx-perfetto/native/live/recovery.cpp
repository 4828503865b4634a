// SPDX-License-Identifier: Apache-2.0
#include "live/recovery.h"

#include <dirent.h>

#include <cstring>
#include <vector>

#include "live/drain.h"
#include "live/live_file.h"
#include "live/part_file.h"

namespace nvtx_perfetto::live {
namespace {

bool ends_with(const std::string& text, const char* suffix) {
  size_t size = std::strlen(suffix);
  return text.size() >= size && text.compare(text.size() - size, size, suffix) == 0;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open = ::opendir(folder.c_str());
  if (!open) return names;
  while (const dirent* entry = ::readdir(open)) names.emplace_back(entry->d_name);
  ::closedir(open);
  return names;
}

}  // namespace

Recovered recover(const std::string& live_path, std::string& problem) {
  LiveFile file;
  switch (file.open(live_path)) {
    case LiveFile::Found::kAlive: return Recovered::kAlive;
    case LiveFile::Found::kForeign:
      problem = live_path + " belongs to another host; join it there";
      return Recovered::kForeign;
    case LiveFile::Found::kUnreadable:
      problem = live_path + " is no live file of this version";
      return Recovered::kFailed;
    case LiveFile::Found::kDead: break;
  }
  std::string stem = live_path.substr(0, live_path.size() - std::strlen(kLiveSuffix));
  PartFile part;
  problem = part.open(stem + kPartSuffix);
  if (!problem.empty()) return Recovered::kFailed;
  const FileHeader& header = file.header();
  if (part.size() < header.checkpoints[header.active.load()].part_size) {
    problem = part.path() + " is shorter than its live file says, so it is left as it is";
    return Recovered::kFailed;
  }
  Drain drain(file, part);
  bool written = drain.finish();
  if (!part.close()) written = false;
  if (!written) {
    problem = drain.problem();
    return Recovered::kFailed;
  }
  file.remove();
  drain.remove_spool();
  return Recovered::kDrained;
}

void recover_beside(const std::string& output) {
  size_t slash = output.rfind('/');
  std::string folder = slash == std::string::npos ? "." : output.substr(0, slash + 1);
  std::string prefix = (slash == std::string::npos ? output : output.substr(slash + 1)) + ".";
  for (const std::string& name : files_in(folder)) {
    if (name.compare(0, prefix.size(), prefix) != 0 || !ends_with(name, kLiveSuffix)) continue;
    std::string problem;
    try {
      recover(slash == std::string::npos ? name : folder + name, problem);
    } catch (...) {  // what cannot be recovered now is still there for a join
    }
  }
}

}  // namespace nvtx_perfetto::live
