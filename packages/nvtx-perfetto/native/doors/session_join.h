// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "doors/killed_session.h"
#include "live/trace_join.h"

namespace nvtx_perfetto {

// The killed writer sessions of traces that are joined: what each left in a spill file beside
// its trace becomes a trace of its own, joined with the others.
class SessionJoin {
 public:
  explicit SessionJoin(std::string output) : output_(std::move(output)) {}
  ~SessionJoin();
  SessionJoin(const SessionJoin&) = delete;
  SessionJoin& operator=(const SessionJoin&) = delete;

  // Looks beside every path; a path may also be that of a spill file. Empty on success, else
  // what went wrong.
  std::string find(const std::vector<std::string>& paths);
  // What to join.
  const std::vector<live::JoinInput>& inputs() const { return inputs_; }
  // The output is written, so what went into it is needed no more.
  void remove_spills();

  struct Recovered {
    uint64_t rows;
    std::string spill;
  };
  const std::vector<Recovered>& recovered() const { return recovered_; }
  // Spill files of sessions that go on.
  const std::vector<std::string>& living() const { return living_; }
  // Spill files that were left alone, each with the reason.
  const std::vector<std::string>& left_alone() const { return left_alone_; }

 private:
  std::string add_trace(const std::string& path);
  std::string add_spill(const std::string& spill, live::JoinInput* trace);

  const std::string output_;
  std::vector<live::JoinInput> inputs_;
  std::vector<std::unique_ptr<KilledSession>> sessions_;
  std::vector<std::string> unfinished_;  // traces of what was recovered
  std::vector<Recovered> recovered_;
  std::vector<std::string> living_;
  std::vector<std::string> left_alone_;
};

}  // namespace nvtx_perfetto
