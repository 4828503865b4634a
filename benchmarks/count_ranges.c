// SPDX-License-Identifier: Apache-2.0
// An NVTX injection that reads the clock and counts: the least that a tool can do with a range.

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long pushes, pops;
static atomic_long strings = 1;
static _Thread_local volatile long sink;

static void read_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sink = now.tv_nsec;
}

static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  (void)domain, (void)attributes;
  read_clock();
  atomic_fetch_add_explicit(&pushes, 1, memory_order_relaxed);
  return 0;
}

static int NVTX_API pop(nvtxDomainHandle_t domain) {
  (void)domain;
  read_clock();
  atomic_fetch_add_explicit(&pops, 1, memory_order_relaxed);
  return 0;
}

static nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  (void)name;
  return (nvtxDomainHandle_t)(intptr_t)atomic_fetch_add(&strings, 1);
}

static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char* text) {
  (void)domain, (void)text;
  return (nvtxStringHandle_t)(intptr_t)atomic_fetch_add(&strings, 1);
}

EXPORT long count_pushes(void) { return atomic_load(&pushes); }
EXPORT long count_pops(void) { return atomic_load(&pops); }

#define SERVE(id, function) \
  if ((id) < size && table[id]) *table[id] = (NvtxFunctionPointer)(function)

EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const NvtxExportTableCallbacks* callbacks =
      (const NvtxExportTableCallbacks*)get(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned int size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  SERVE(NVTX_CBID_CORE2_DomainRangePushEx, push);
  SERVE(NVTX_CBID_CORE2_DomainRangePop, pop);
  SERVE(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  SERVE(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  return 1;
}
