// SPDX-License-Identifier: Apache-2.0
// The modules of CUDA, OpenCL and user synchronisation: accepted and counted, since a trace has no
// place for them. Their types are other libraries', so pointers stand for handles here, as
// in NVTX's own tables.
#include "doors/injection_door.h"

namespace nvtx_perfetto::injection {
namespace {

void NVTX_API name_by_number(int, const void*) { count_unsupported(); }
void NVTX_API name_by_handle(void*, const void*) { count_unsupported(); }
void NVTX_API use_sync(void*) { count_unsupported(); }
void* NVTX_API create_sync(nvtxDomainHandle_t, const void*) {
  count_unsupported();
  return reinterpret_cast<void*>(uintptr_t{1});
}

template <typename Function>
void set(NvtxFunctionTable table, unsigned int size, int id, Function function) {
  auto at = static_cast<unsigned int>(id);
  if (at < size && table[at]) *table[at] = reinterpret_cast<NvtxFunctionPointer>(function);
}

void fill_names(NvtxFunctionTable table, unsigned int size, int devices, int all) {
  for (int id = 1; id < all; ++id) {
    if (id <= devices)
      set(table, size, id, &name_by_number);
    else
      set(table, size, id, &name_by_handle);
  }
}

}  // namespace

void fill_module(NvtxCallbackModule module, NvtxFunctionTable table, unsigned int size) {
  switch (module) {
    case NVTX_CB_MODULE_CORE: return fill_core(table, size);
    case NVTX_CB_MODULE_CORE2: return fill_core2(table, size);
    // The first two of each CUDA module take a device's number, the others a handle.
    case NVTX_CB_MODULE_CUDA:
      return fill_names(table, size, NVTX_CBID_CUDA_NameCuDeviceW, NVTX_CBID_CUDA_SIZE);
    case NVTX_CB_MODULE_CUDART:
      return fill_names(table, size, NVTX_CBID_CUDART_NameCudaDeviceW, NVTX_CBID_CUDART_SIZE);
    case NVTX_CB_MODULE_OPENCL: return fill_names(table, size, 0, NVTX_CBID_OPENCL_SIZE);
    case NVTX_CB_MODULE_SYNC:
      set(table, size, NVTX_CBID_SYNC_DomainSyncUserCreate, &create_sync);
      for (int id = NVTX_CBID_SYNC_DomainSyncUserDestroy; id < NVTX_CBID_SYNC_SIZE; ++id) {
        set(table, size, id, &use_sync);
      }
      return;
    default: return;
  }
}

}  // namespace nvtx_perfetto::injection
