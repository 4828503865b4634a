// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace nvtx_perfetto {

// Where finished packets go. `append` takes whole packets only, so that whatever a
// sink has taken can be read back. Safe to call from several threads at once.
class Sink {
 public:
  virtual ~Sink() = default;
  // False once the sink takes no more: an I/O error, or its size limit.
  virtual bool append(const void* packets, size_t size) noexcept = 0;
  // False when further begins, instants and samples should be dropped.
  virtual bool open_for_events() const noexcept = 0;
};

}  // namespace nvtx_perfetto
