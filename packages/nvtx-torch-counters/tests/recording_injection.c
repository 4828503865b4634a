/* SPDX-License-Identifier: Apache-2.0
 *
 * An NVTX injection that writes the counter calls of a live process to RECORDING_OUTPUT.
 */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <time.h>

#include "recording.h"

static nvtxDomainHandle_t NVTX_API domain_create(const char* name) {
  begin_line("domain");
  fprintf(out, ", \"name\": \"%s\"", name);
  nvtxDomainHandle_t handle = (nvtxDomainHandle_t)(uintptr_t)++last_id;
  end_line();
  return handle;
}

static uint64_t NVTX_API schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attr) {
  (void)domain;
  return record_schema(attr);
}

static uint8_t NVTX_API enabled(nvtxDomainHandle_t domain) {
  (void)domain;
  return 1;
}

static uint64_t NVTX_API counter(nvtxDomainHandle_t domain, const nvtxCounterAttr_t* attr) {
  (void)domain;
  return record_counter(attr);
}

static void NVTX_API batch(nvtxDomainHandle_t domain, const nvtxCounterBatch_t* rows) {
  (void)domain;
  record_batch(rows);
}

static void NVTX_API no_value(nvtxDomainHandle_t domain, uint64_t id, uint8_t reason) {
  struct timespec now;
  (void)domain;
  clock_gettime(CLOCK_REALTIME, &now);
  record_no_value(id, reason, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

__attribute__((visibility("default"))) int NVTX_API
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const NvtxExportTableCallbacks* callbacks =
      (const NvtxExportTableCallbacks*)get(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)domain_create;
  return 1;
}

static void slot(nvtxExtModuleInfo_t* module, size_t id, intptr_t function) {
  if (id < module->segments[0].slotCount) module->segments[0].functionSlots[id] = function;
}

__attribute__((visibility("default"))) int NVTX_API
InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID) {
    slot(module, NVTX3EXT_CBID_nvtxPayloadSchemaRegister, (intptr_t)schema);
    slot(module, NVTX3EXT_CBID_nvtxDomainIsEnabled, (intptr_t)enabled);
  } else if (module->moduleId == NVTX_EXT_COUNTERS_MODULEID) {
    slot(module, NVTX3EXT_CBID_nvtxCounterRegister, (intptr_t)counter);
    slot(module, NVTX3EXT_CBID_nvtxCounterBatchSubmit, (intptr_t)batch);
    slot(module, NVTX3EXT_CBID_nvtxCounterSampleNoValue, (intptr_t)no_value);
  }
  return 1;
}
