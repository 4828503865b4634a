// SPDX-License-Identifier: Apache-2.0
#include "doors/injection_door.h"

#include <nvtx3/nvToolsExtCounters.h>

#include "doors/injection_extensions.h"

namespace nvtx_perfetto::injection {

uint32_t domain_index(nvtxDomainHandle_t domain) {
  uint32_t index;
  Registry::Lookup found = Recorder::get().registry().find_domain(bits_of(domain), index);
  return found == Registry::Lookup::kBad ? Registry::kNoDomain : index;
}

void count_unsupported() noexcept {
  if (ThreadWriter* writer = Recorder::existing()->writer()) writer->tally(Tally::kUnsupported);
}

namespace {

void read_message(const nvtxEventAttributes_t& given, const Registry& registry, EventInput& event) {
  switch (given.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      event.text = given.message.ascii;
      if (event.text) event.text_kind = EventInput::kText;
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      event.text = given.message.unicode;
      if (event.text) event.text_kind = EventInput::kWideText;
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      event.string_handle = registry.find_string(
          static_cast<uint64_t>(reinterpret_cast<uintptr_t>(given.message.registered)));
      if (event.string_handle != 0) event.text_kind = EventInput::kStringHandle;
      break;
    default: break;
  }
}

}  // namespace

bool read_event(const nvtxEventAttributes_t* attributes, const Registry& registry,
                EventInput& event) {
  if (!attributes) return true;
  nvtxEventAttributes_t known;
  if (attributes->size < sizeof(known)) {
    known = {};
    // The size and what comes before it are in every version.
    size_t size = attributes->size < 4 ? 4 : attributes->size;
    std::memcpy(static_cast<void*>(&known), attributes, size);
    attributes = &known;
  }
  // The colour that the nvtx package puts on events that have none is not worth its bytes.
  constexpr uint32_t kNoColor = 0x000000FF;
  event.category = attributes->category;
  bool colored = attributes->colorType == NVTX_COLOR_ARGB && attributes->color != kNoColor;
  event.color = colored ? attributes->color : 0;
  event.has_attributes = event.category != 0 || event.color != 0;
  if (attributes->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    event.payloads = reinterpret_cast<const nvtxPayloadData_t*>(
        static_cast<uintptr_t>(attributes->payload.ullValue));
    event.payload_count = static_cast<uint32_t>(attributes->reserved0);
    if (!event.payloads) event.payload_count = 0;
  } else if (attributes->payloadType != NVTX_PAYLOAD_UNKNOWN) {
    event.value_type = static_cast<uint32_t>(attributes->payloadType);
    event.value = attributes->payload.ullValue;
  }
  read_message(*attributes, registry, event);
  bool registered = attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  return !registered || event.string_handle != 0 || !attributes->message.registered;
}

namespace {

// Every module that a caller may ask for; what has no functions here answers false.
bool fill_all(NvtxGetExportTableFunc_t get_table) {
  if (!get_table) return false;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (!callbacks || callbacks->struct_size < sizeof(*callbacks)) return false;
  for (int module = NVTX_CB_MODULE_CORE; module < NVTX_CB_MODULE_SIZE; ++module) {
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    auto id = static_cast<NvtxCallbackModule>(module);
    if (callbacks->GetModuleFunctionTable(id, &table, &size) != 0 && table) {
      fill_module(id, table, size);
    }
  }
  const auto* version =
      static_cast<const NvtxExportTableVersionInfo*>(get_table(NVTX_ETID_VERSIONINFO));
  if (version && version->struct_size >= sizeof(*version)) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  return true;
}

}  // namespace
}  // namespace nvtx_perfetto::injection

#define NVTX_PERFETTO_EXPORT extern "C" __attribute__((visibility("default")))

// Called once by every NVTX copy in the process, possibly by several threads at once.
NVTX_PERFETTO_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  try {
    nvtx_perfetto::injection::Recorder::get();
    return nvtx_perfetto::injection::fill_all(get_table) ? 1 : 0;
  } catch (...) {  // out of memory: the program runs on without a tool
    return 0;
  }
}

// Called once by every NVTX copy for each extension; memory and unknown ones are refused.
NVTX_PERFETTO_EXPORT int NVTX_API InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  namespace door = nvtx_perfetto::injection;
  if (!module || module->segmentsCount == 0 || !module->segments) return 0;
  try {
    door::Recorder::get();
    switch (module->moduleId) {
      case NVTX_EXT_PAYLOAD_MODULEID:
        door::fill_payload(module->segments[0]);
        door::fill_times(module->segments[0]);
        return 1;
      case NVTX_EXT_COUNTERS_MODULEID: door::fill_counters(module->segments[0]); return 1;
      default: return 0;
    }
  } catch (...) {
    return 0;
  }
}
