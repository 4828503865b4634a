// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doors/injection_door.h"

namespace nvtx_perfetto::injection {

void fill_payload(nvtxExtModuleSegment_t& segment);
void fill_counters(nvtxExtModuleSegment_t& segment);

template <typename Function>
void fill_slot(nvtxExtModuleSegment_t& segment, size_t callback, Function function) {
  if (callback < segment.slotCount) {
    segment.functionSlots[callback] = reinterpret_cast<intptr_t>(function);
  }
}

}  // namespace nvtx_perfetto::injection
