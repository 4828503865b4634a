// SPDX-License-Identifier: Apache-2.0
#include "payload/entry_names.h"

#include <algorithm>
#include <unordered_set>

#include "payload/decoder.h"

namespace nvtx_perfetto {
namespace {

// Schemas with more arguments than this are not looked at any further.
constexpr size_t kMaxKeys = 4096;

std::string rewritten(std::string name) {
  for (char& c : name) {
    if (c == '.' || c == '[' || c == ']') c = '_';
  }
  return name;
}

bool is_list(const SchemaEntry& entry) {
  ValueKind kind = entry.value.kind;
  return entry.array != ArrayKind::kNone && kind != ValueKind::kText &&
         kind != ValueKind::kCharacter && kind != ValueKind::kByte;
}

// What follows the name of an entry in the keys of its arguments.
std::vector<std::string> endings(const SchemaEntry& entry) {
  static const auto& kAlone = *new std::vector<std::string>{""};
  const std::vector<std::string>& inner = entry.nested ? entry.nested->keys : kAlone;
  if (!is_list(entry)) return inner;
  bool fixed = entry.array == ArrayKind::kFixed;
  size_t most = PayloadDecoder::kMaxElements;
  size_t shown = fixed ? std::min<size_t>(entry.count, most) : most;
  std::vector<std::string> all;
  for (size_t i = 0; i < shown && all.size() < kMaxKeys; ++i) {
    for (const std::string& key : inner) all.push_back("_" + std::to_string(i) + "_" + key);
  }
  if (!fixed || entry.count > most) all.push_back("_size");
  return all;
}

}  // namespace

void name_entries(Schema& schema) {
  std::unordered_set<std::string> taken;
  bool bare = schema.is_wrapper();
  for (SchemaEntry& entry : schema.entries) {
    std::vector<std::string> ends = endings(entry);
    std::string name = entry.name;
    auto is_taken = [&] {
      std::string start = rewritten(name);
      return std::any_of(ends.begin(), ends.end(),
                         [&](const std::string& end) { return taken.count(start + end) != 0; });
    };
    for (int copy = 2; is_taken(); ++copy) name = entry.name + "_" + std::to_string(copy);
    entry.name = name;
    entry.size_name = name + ".size";
    for (const std::string& end : ends) {
      if (schema.keys.size() >= kMaxKeys) break;
      taken.insert(rewritten(name) + end);
      schema.keys.push_back(bare ? end : "_" + rewritten(name) + end);
    }
  }
}

}  // namespace nvtx_perfetto
