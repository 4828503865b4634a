// SPDX-License-Identifier: Apache-2.0
#include "model/scope_path.h"

#include <cerrno>
#include <cstdlib>

namespace nvtx_perfetto {
namespace {

void trim(std::string& text) {
  size_t begin = text.find_first_not_of(' ');
  size_t end = text.find_last_not_of(' ');
  text = begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

}  // namespace

std::string ScopeNode::text() const {
  std::string out = keyed ? name + "[" + key + "]" : name;
  if (!rest.empty()) out += " " + rest;
  return out;
}

std::vector<ScopeNode> parse_scope_path(const char* path) {
  std::vector<ScopeNode> nodes;
  if (!path) return nodes;
  ScopeNode node;
  std::string* into = &node.name;
  bool any = false;
  auto finish = [&] {
    if (any) {
      trim(node.rest);
      nodes.push_back(node);
    }
    node = ScopeNode();
    into = &node.name;
    any = false;
  };
  for (const char* at = path; *at; ++at) {
    if (*at == '\\' && at[1]) {
      *into += *++at;
    } else if (*at == '/') {
      finish();
      continue;
    } else if (*at == '[' && into == &node.name) {
      node.keyed = true;
      into = &node.key;
    } else if (*at == ']' && into == &node.key) {
      into = &node.rest;
    } else {
      *into += *at;
    }
    any = true;
  }
  finish();
  return nodes;
}

int64_t numeric_key(const ScopeNode& node, int64_t most) {
  if (!node.keyed || node.key.empty() || node.key[0] < '1' || node.key[0] > '9') return 0;
  char* end = nullptr;
  errno = 0;
  long long value = std::strtoll(node.key.c_str(), &end, 10);
  return errno == 0 && *end == '\0' && value <= most ? value : 0;
}

}  // namespace nvtx_perfetto
