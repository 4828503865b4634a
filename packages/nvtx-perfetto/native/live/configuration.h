// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "live/registry.h"

namespace nvtx_perfetto::live {

// What the environment says about live recording.
//
// NVTX_PERFETTO_OUTPUT: the trace file; `%p` is the process id, `%h` the host, `%q{VAR}` an
// environment variable, `%%` a percent sign. Default: `nvtx-%p.pftrace`.
//
// NVTX_PERFETTO_CONFIG: `key=value`, apart by newlines or `|`; `#` starts a comment line; unknown
// keys are ignored, since writer sessions have theirs.
//   domain=NAME, exclude_domain=NAME   may come several times; `default` is the default domain
//   buffer_memory=SIZE                 of all thread buffers, default 256M
//   overwrite=1                        replaces an existing output
//   parts=only                         leaves the part for a join
struct Configuration {
  std::string output;
  DomainFilter domains;
  uint32_t chunk_limit = 1024;
  bool overwrite = false;
  bool parts_only = false;
  bool drain_thread = true;  // without it, events are drained on request and at the end only
  std::string label;         // `rank N` where a launcher says so
  std::string problem;  // what is wrong and what it should be; recording goes on with the default
};

Configuration read_configuration();

// `%p`, `%h` and `%q{VAR}` replaced; unset variables are empty.
std::string expand_output(const std::string& pattern);

}  // namespace nvtx_perfetto::live
