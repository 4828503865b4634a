// SPDX-License-Identifier: Apache-2.0
#include "model/config.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

namespace nvtx_perfetto {
namespace {

constexpr uint64_t kLeastMemory = 64 << 10;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool parse_integer(const std::string& text, int64_t& out) {
  char* end = nullptr;
  errno = 0;
  long long value = std::strtoll(text.c_str(), &end, 10);
  out = value;
  return errno == 0 && !text.empty() && *end == '\0';
}

// Bytes, with an optional K, M or G (powers of 1024).
bool parse_size(const std::string& text, uint64_t& out) {
  char* end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (errno != 0 || text.empty() || text[0] == '-' || end == text.c_str()) return false;
  int shift = 0;
  if (*end != '\0') {
    const char* units = "KMG";
    const char* unit = std::strchr(units, std::toupper(static_cast<unsigned char>(*end)));
    if (!unit || end[1] != '\0') return false;
    shift = 10 * static_cast<int>(unit - units + 1);
  }
  out = static_cast<uint64_t>(value) << shift;
  return out >> shift == value;
}

bool parse_switch(const std::string& text, bool& out) {
  out = text == "1" || text == "true" || text == "yes" || text == "on";
  return out || text == "0" || text == "false" || text == "no" || text == "off";
}

std::string safe_file_name(const std::string& name) {
  std::string safe;
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = std::isalnum(byte) || byte >= 0x80 || std::strchr("-_.+ ", c) != nullptr;
    safe += plain && c != '\0' ? c : '_';
  }
  // A leading dot would hide the file; file systems take 255 bytes at most.
  if (!safe.empty() && safe[0] == '.') safe[0] = '_';
  size_t length = safe.size() < 200 ? safe.size() : 200;
  while (length > 0 && length < safe.size() && (safe[length] & 0xC0) == 0x80) --length;
  safe.resize(length);
  return safe.empty() ? "session" : safe;
}

bool apply(SessionConfig& config, const std::string& key, const std::string& value) {
  if (key == "output") {
    config.output = value;
    return !value.empty();
  }
  if (key == "overwrite") return parse_switch(value, config.overwrite);
  if (key == "time_offset") return parse_integer(value, config.time_offset);
  if (key == "clock_snapshot") {
    config.host_snapshot = value == "host";
    return value == "host" || value == "none";
  }
  if (key == "unrelated_clocks") {
    config.unrelated_clocks = value == "allow";
    return value == "allow" || value == "refuse";
  }
  if (key == "max_size") return parse_size(value, config.max_size);
  if (key == "memory") return parse_size(value, config.memory) && config.memory >= kLeastMemory;
  return true;
}

const char* expected(const std::string& key) {
  if (key == "output") return "a path";
  if (key == "overwrite") return "0 or 1";
  if (key == "time_offset") return "whole nanoseconds";
  if (key == "clock_snapshot") return "host or none";
  if (key == "unrelated_clocks") return "allow or refuse";
  if (key == "memory") return "a size of at least 64K, such as 256M";
  return "a size such as 500M";
}

}  // namespace

SessionConfig parse_config(const char* text, const std::string& session_name) {
  SessionConfig config;
  std::set<std::string> seen;
  std::string_view left = text ? text : "";
  while (!left.empty()) {
    size_t end = left.find_first_of("\r\n|");
    std::string_view entry = trimmed(left.substr(0, end));
    left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
    if (entry.empty() || entry[0] == '#') continue;
    size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    std::string key(trimmed(entry.substr(0, equals)));
    std::string value(trimmed(entry.substr(equals + 1)));
    if (!seen.insert(key).second) continue;
    if (!apply(config, key, value) && config.problem.empty()) {
      config.problem = "session config: " + key + "=" + value + " was found, but " + expected(key) +
                       " was expected";
    }
  }
  if (config.output.empty()) config.output = safe_file_name(session_name) + ".pftrace";
  return config;
}

}  // namespace nvtx_perfetto
