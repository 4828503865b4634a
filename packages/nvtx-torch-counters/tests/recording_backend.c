/* SPDX-License-Identifier: Apache-2.0
 *
 * An NVTXW backend that writes counter calls to RECORDING_OUTPUT; events are accepted and ignored.
 */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtxw3/nvtxw3.h>

#include "recording.h"

#define OK NVTXW_RESULT_SUCCESS

static nvtxwResultCode_t begin(const nvtxwSessionAttributes_t* a, nvtxwSessionHandle_t* handle) {
  (void)a;
  *handle = (nvtxwSessionHandle_t)(uintptr_t)1;
  return OK;
}

static nvtxwResultCode_t end(nvtxwSessionHandle_t session) {
  (void)session;
  return OK;
}

static nvtxwResultCode_t domain(nvtxwSessionHandle_t s, const nvtxwDomainAttributes_t* a,
                                nvtxDomainHandle_t* handle) {
  (void)s;
  (void)a;
  *handle = (nvtxDomainHandle_t)(uintptr_t)++last_id;
  return OK;
}

static nvtxwResultCode_t schema(nvtxDomainHandle_t d, const nvtxPayloadSchemaAttr_t* a,
                                uint64_t* id) {
  (void)d;
  *id = record_schema(a);
  return OK;
}

static nvtxwResultCode_t counter(nvtxDomainHandle_t d, const nvtxCounterAttr_t* a, uint64_t* id) {
  (void)d;
  *id = record_counter(a);
  return OK;
}

static nvtxwResultCode_t open_stream(nvtxwSessionHandle_t s, const nvtxwStreamAttributes_t* a,
                                     nvtxwStreamHandle_t* handle) {
  (void)s;
  (void)a;
  *handle = (nvtxwStreamHandle_t)(uintptr_t)++last_id;
  return OK;
}

static nvtxwResultCode_t close_stream(nvtxwStreamHandle_t stream) {
  (void)stream;
  return OK;
}

static nvtxwResultCode_t no_value(nvtxwStreamHandle_t s, int64_t time, uint64_t id,
                                  uint8_t reason) {
  (void)s;
  record_no_value(id, reason, time);
  return OK;
}

static nvtxwResultCode_t batch(nvtxwStreamHandle_t s, const nvtxCounterBatch_t* rows) {
  (void)s;
  record_batch(rows);
  return OK;
}

static const nvtxwInterface_v2_t interface = {
    .SessionBegin = begin,
    .SessionEnd = end,
    .DomainRegister = domain,
    .SchemaRegister = schema,
    .CounterRegister = counter,
    .StreamOpen = open_stream,
    .StreamClose = close_stream,
    .CounterNoValueWrite = no_value,
    .CounterBatchWrite = batch,
};

__attribute__((visibility("default"))) nvtxwResultCode_t
nvtxwGetInterface(nvtxwInterfaceVersion_t version, const void** out_interface) {
  if (version != 2) return NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED;
  *out_interface = &interface;
  return OK;
}
