// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>

namespace nvtx_perfetto::live {

// What one call said about an event, before it is recorded. Pointers are the caller's
// and good during the call only.
struct EventInput {
  enum Text : uint8_t { kNoText, kText, kWideText, kStringHandle };

  Text text_kind = kNoText;
  bool has_attributes = false;
  uint32_t category = 0;
  uint32_t color = 0;
  uint32_t value_type = 0;  // an nvtxPayloadType_t; 0: no value
  uint64_t value = 0;
  const void* text = nullptr;
  uint64_t string_handle = 0;
  const nvtxPayloadData_t* payloads = nullptr;
  size_t payload_count = 0;
};

}  // namespace nvtx_perfetto::live
