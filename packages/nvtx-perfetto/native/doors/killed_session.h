// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "io/spill_reader.h"
#include "model/session.h"

namespace nvtx_perfetto {

// What a writer session that was killed left in its spill file.
class KilledSession {
 public:
  // Other answers than kDead leave nothing to call but the reader's.
  SpillReader::Found open(const std::string& spill_path);

  // What its output names as its trace uuid; see add_trace_uuid.
  uint64_t seed() const { return identity_.seed; }
  // How much of its output stays: beyond, all is in the spill file as well.
  uint64_t kept_output() const { return kept_output_; }

  // Writes the spilled rows as a trace, on the tracks of the output's, which has `output_size`
  // bytes of its own. Empty on success, else what went wrong.
  std::string write(const std::string& trace_path, uint64_t output_size);
  uint64_t rows() const { return rows_; }
  uint64_t unreadable_runs() const { return unreadable_; }

  void remove() { file_.remove(); }

 private:
  bool read_session();
  void replay(Session& session, HandleTable<Stream>& table);

  SpillReader file_;
  SessionIdentity identity_;
  SessionConfig config_;
  std::string name_;
  uint64_t kept_output_ = UINT64_MAX;
  uint64_t rows_ = 0;
  uint64_t unreadable_ = 0;
};

}  // namespace nvtx_perfetto
