// SPDX-License-Identifier: Apache-2.0
#include "live/configuration.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "live/layout.h"
#include "live/live_file.h"

namespace nvtx_perfetto::live {
namespace {

// Enough for two threads and their definitions.
constexpr uint64_t kLeastMemory = 4 << 20;
constexpr uint64_t kMostMemory = uint64_t{64} << 30;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string trimmed(const std::string& text) {
  constexpr char kBlanks[] = " \t\r";
  size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool read_size(const std::string& text, uint64_t& size) {
  char* end = nullptr;
  size = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return false;
  std::string unit(end);
  if (unit == "K" || unit == "k")
    size <<= 10;
  else if (unit == "M" || unit == "m")
    size <<= 20;
  else if (unit == "G" || unit == "g")
    size <<= 30;
  else
    return unit.empty();
  return true;
}

void apply(Configuration& out, const std::string& key, const std::string& value) {
  if (key == "domain") {
    out.domains.included.push_back(value);
  } else if (key == "exclude_domain") {
    out.domains.excluded.push_back(value);
  } else if (key == "overwrite") {
    out.overwrite = value == "1" || value == "true" || value == "yes";
  } else if (key == "parts") {
    out.parts_only = value == "only";
  } else if (key == "buffer_memory") {
    uint64_t size;
    if (read_size(value, size) && size >= kLeastMemory && size <= kMostMemory) {
      out.chunk_limit = static_cast<uint32_t>(size / kChunkSize);
    } else {
      out.problem = "buffer_memory=" + value + " is no size from 4M to 64G; 256M is used";
    }
  }
}

void parse(Configuration& out, const std::string& text) {
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find_first_of("\n|", at), text.size());
    std::string entry = trimmed(text.substr(at, end - at));
    at = end + 1;
    size_t equals = entry.find('=');
    if (entry.empty() || entry[0] == '#' || equals == std::string::npos) continue;
    apply(out, trimmed(entry.substr(0, equals)), trimmed(entry.substr(equals + 1)));
  }
}

}  // namespace

std::string expand_output(const std::string& pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%') {
      out += pattern[i];
    } else if (next == 'p') {
      out += std::to_string(::getpid());
      ++i;
    } else if (next == 'h') {
      out += host_name();
      ++i;
    } else if (next == '%') {
      out += '%';
      ++i;
    } else if (pattern.compare(i, 3, "%q{") == 0 && pattern.find('}', i) != std::string::npos) {
      size_t end = pattern.find('}', i);
      out += environment(pattern.substr(i + 3, end - i - 3).c_str());
      i = end;
    } else {
      out += '%';
    }
  }
  return out;
}

Configuration read_configuration() {
  Configuration out;
  parse(out, environment("NVTX_PERFETTO_CONFIG"));
  std::string pattern = environment("NVTX_PERFETTO_OUTPUT");
  out.output = expand_output(pattern.empty() ? "nvtx-%p.pftrace" : pattern);
  std::string rank = environment("RANK");
  if (!rank.empty()) out.label = "rank " + rank;
  return out;
}

}  // namespace nvtx_perfetto::live
