// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "model/session.h"

namespace nvtx_perfetto {

// Registers and opens in a fresh session what a killed one logged, with the same ids. Logs are
// read from a file that may hold anything, so all goes through the checks of the door.
class DefinitionReplay {
 public:
  DefinitionReplay(Session& session, HandleTable<Stream>& table)
      : session_(session), table_(table) {}

  // Applies what a block holds. False once something does not fit: ids would not be those of
  // before, so the rest is left alone.
  bool apply(std::string_view definitions);

  // Null when there is no such stream.
  Stream* stream(uint64_t number) const {
    return number < streams_.size() ? streams_[number].get() : nullptr;
  }

 private:
  bool apply_one(const DefinitionHead& head, std::string_view body);
  bool in_domain(Domain& domain, const DefinitionHead& head, std::string_view body);
  bool add_domain(const DefinitionHead& head, std::string_view name);
  bool add_stream(const DefinitionHead& head, std::string_view body);
  bool tie(DefinitionKind kind, std::string_view body);

  Session& session_;
  HandleTable<Stream>& table_;
  bool good_ = true;
  std::map<uint32_t, Domain*> domains_;
  std::vector<std::shared_ptr<Stream>> streams_;
};

// Takes the definitions of a block apart; the last one must be whole.
template <typename Visit>
bool each_definition(std::string_view block, const Visit& visit) {
  while (!block.empty()) {
    DefinitionHead head;
    if (block.size() < sizeof(head)) return false;
    __builtin_memcpy(&head, block.data(), sizeof(head));
    block.remove_prefix(sizeof(head));
    if (head.size > block.size()) return false;
    if (!visit(head, block.substr(0, static_cast<size_t>(head.size)))) return false;
    block.remove_prefix(static_cast<size_t>(head.size));
  }
  return true;
}

// Facts at the start of a body, and the text behind them.
template <typename Facts>
bool read_facts(std::string_view body, Facts& facts, std::string_view& text) {
  if (body.size() < sizeof(facts)) return false;
  __builtin_memcpy(&facts, body.data(), sizeof(facts));
  text = body.substr(sizeof(facts));
  return true;
}

}  // namespace nvtx_perfetto
