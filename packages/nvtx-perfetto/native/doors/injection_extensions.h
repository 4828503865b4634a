// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doors/injection_door.h"

namespace nvtx_perfetto::injection {

void fill_payload(nvtxExtModuleSegment_t& segment);
void fill_times(nvtxExtModuleSegment_t& segment);
void fill_counters(nvtxExtModuleSegment_t& segment);

// Reads the program's own clocks of a domain, for what is submitted next.
void read_timers(nvtxDomainHandle_t domain) noexcept;

// Registers what `pack` writes; 0 when it cannot be.
template <typename Pack>
uint64_t define(nvtxDomainHandle_t domain, live::DefinitionKind kind, uint64_t id,
                uint64_t dynamic_start, const Pack& pack) noexcept {
  try {
    uint32_t index = domain_index(domain);
    if (index == Registry::kNoDomain) return 0;
    ByteBuffer body;
    pack(body);
    return Recorder::get().registry().define(kind, index, id, body.view(), dynamic_start);
  } catch (...) {
    return 0;
  }
}

// A caller's own id, if it lies where such ids may lie.
inline uint64_t static_id(uint64_t id, uint64_t first, uint64_t end) {
  return id >= first && id < end ? id : 0;
}

template <typename Function>
void fill_slot(nvtxExtModuleSegment_t& segment, size_t callback, Function function) {
  if (callback < segment.slotCount) {
    segment.functionSlots[callback] = reinterpret_cast<intptr_t>(function);
  }
}

}  // namespace nvtx_perfetto::injection
