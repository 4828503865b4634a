// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "doors/definition_replay.h"
#include "io/spill_reader.h"

namespace nvtx_perfetto {

// Writes to a session again what a killed one had spilled. Records are read from a file that
// may hold anything.
class RecordReplay {
 public:
  explicit RecordReplay(const DefinitionReplay& definitions) : definitions_(definitions) {}

  // Writes a run's records; false when some are not what the run says.
  bool add(const SpillBlock& block, std::string_view run);
  uint64_t rows() const { return written_; }

 private:
  bool add_record(const SpillBlock& block, const Record& record);
  bool add_event(const SpillBlock& block, const Record& record);
  bool add_half(const SpillBlock& block, const Record& record);
  bool add_range_half(const Record& record);
  bool add_sample(const SpillBlock& block, const Record& record);
  bool add_deferred(const Record& record);
  // Writes `count` rows, which must fill the bytes.
  bool write_rows(uint64_t stream, std::string_view bytes, uint32_t count, uint64_t batch_scope);

  const DefinitionReplay& definitions_;
  std::vector<Row> rows_;
  uint64_t written_ = 0;
};

}  // namespace nvtx_perfetto
