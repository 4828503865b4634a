// SPDX-License-Identifier: Apache-2.0
// What the files of the injection door share: how a call of any NVTX copy reaches the recorder.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <cstring>

#include "live/recorder.h"

namespace nvtx_perfetto::injection {

using live::EventInput;
using live::Recorder;
using live::Registry;
using live::Tally;
using live::ThreadWriter;

inline uint64_t bits_of(nvtxDomainHandle_t domain) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(domain));
}

// A domain's index for the calls that register something; kNoDomain when the handle is bad.
uint32_t domain_index(nvtxDomainHandle_t domain);

// Runs `record(writer, domain)` in the calling thread's buffer, and answers `otherwise` when
// nothing is recorded: an excluded domain, a bad handle, a call inside a call.
template <typename Result, typename Record>
inline Result in_domain(nvtxDomainHandle_t domain, Result otherwise,
                        const Record& record) noexcept {
  Recorder* recorder = Recorder::existing();
  uint32_t index;
  Registry::Lookup found = recorder->registry().find_domain(bits_of(domain), index);
  if (found == Registry::Lookup::kDisabled) return otherwise;
  ThreadWriter* writer = recorder->writer();
  if (!writer) return otherwise;
  if (found == Registry::Lookup::kBad) {
    writer->tally(Tally::kBadHandle);
    return otherwise;
  }
  if (!writer->enter()) return otherwise;
  Result result = otherwise;
  try {
    result = record(*writer, index);
  } catch (...) {  // out of memory
    writer->tally(Tally::kDropped);
  }
  writer->leave();
  return result;
}

// Reads as much of the attributes as their size says.
bool read_event(const nvtxEventAttributes_t* attributes, const Registry& registry,
                EventInput& event);

// Counts a call that has no meaning for a trace.
void count_unsupported() noexcept;

// Fills in the functions of one module's table: `size` slots, each null or a place for a
// function.
void fill_module(NvtxCallbackModule module, NvtxFunctionTable table, unsigned int size);
void fill_core(NvtxFunctionTable table, unsigned int size);
void fill_core2(NvtxFunctionTable table, unsigned int size);

}  // namespace nvtx_perfetto::injection
