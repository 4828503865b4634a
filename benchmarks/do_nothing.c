/* SPDX-License-Identifier: Apache-2.0
 * An NVTXW backend that accepts everything and keeps nothing: the floor that writing costs through
 * nvtx.writer alone. It counts calls so that no compiler can leave them out. */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtxw3/nvtxw3.h>

static uint64_t calls;
static uint64_t handles;

static nvtxwResultCode_t done(void) {
  ++calls;
  return NVTXW_RESULT_SUCCESS;
}

#define NEXT_POINTER(out) (*(out) = (void*)(uintptr_t)(++handles + 4096), NVTXW_RESULT_SUCCESS)
#define NEXT_ID(out) (*(out) = ++handles + 100000000u, NVTXW_RESULT_SUCCESS)

static nvtxwResultCode_t session_begin(const nvtxwSessionAttributes_t* a, nvtxwSessionHandle_t* o) {
  return NEXT_POINTER(o);
}
static nvtxwResultCode_t session_end(nvtxwSessionHandle_t s) { return done(); }
static nvtxwResultCode_t domain_register(nvtxwSessionHandle_t s, const nvtxwDomainAttributes_t* a,
                                         nvtxDomainHandle_t* o) {
  return NEXT_POINTER(o);
}
static nvtxwResultCode_t category_register(nvtxDomainHandle_t d, uint32_t c, const char* n) {
  return done();
}
static nvtxwResultCode_t string_register(nvtxDomainHandle_t d, const char* s,
                                         nvtxStringHandle_t* o) {
  return NEXT_POINTER(o);
}
static nvtxwResultCode_t resource_register(nvtxDomainHandle_t d,
                                           const nvtxResourceAttributes_t* a) {
  return done();
}
#define REGISTER(name, attributes)                                                        \
  static nvtxwResultCode_t name(nvtxDomainHandle_t d, const attributes* a, uint64_t* o) { \
    return NEXT_ID(o);                                                                    \
  }
REGISTER(scope_register, nvtxScopeAttr_t)
REGISTER(schema_register, nvtxPayloadSchemaAttr_t)
REGISTER(enum_register, nvtxPayloadEnumAttr_t)
REGISTER(counter_register, nvtxCounterAttr_t)
REGISTER(time_domain_register, nvtxTimeDomainAttr_t)

static nvtxwResultCode_t stream_open(nvtxwSessionHandle_t s, const nvtxwStreamAttributes_t* a,
                                     nvtxwStreamHandle_t* o) {
  return NEXT_POINTER(o);
}
static nvtxwResultCode_t stream_close(nvtxwStreamHandle_t s) { return done(); }
static nvtxwResultCode_t event_write(nvtxwStreamHandle_t s, const nvtxPayloadData_t* p, size_t n) {
  return done();
}
static nvtxwResultCode_t event_batch_write(nvtxwStreamHandle_t s, const nvtxEventBatch_t* b) {
  return done();
}
static nvtxwResultCode_t counter_write(nvtxwStreamHandle_t s, int64_t t, uint64_t c, const void* d,
                                       size_t n) {
  return done();
}
static nvtxwResultCode_t counter_no_value_write(nvtxwStreamHandle_t s, int64_t t, uint64_t c,
                                                uint8_t r) {
  return done();
}
static nvtxwResultCode_t counter_batch_write(nvtxwStreamHandle_t s, const nvtxCounterBatch_t* b) {
  return done();
}
static nvtxwResultCode_t sync_point(nvtxwStreamHandle_t s, uint64_t a, uint64_t b, int64_t c,
                                    int64_t d) {
  return done();
}
static nvtxwResultCode_t sync_table(nvtxwStreamHandle_t s, uint64_t a, uint64_t b,
                                    const nvtxSyncPoint_t* p, size_t n) {
  return done();
}
static nvtxwResultCode_t conversion_factor(nvtxwStreamHandle_t s, uint64_t a, uint64_t b, double f,
                                           int64_t c, int64_t d) {
  return done();
}

static const nvtxwInterface_v2_t interface_v2 = {
    session_begin,          session_end,         domain_register,      category_register,
    string_register,        resource_register,   scope_register,       schema_register,
    enum_register,          counter_register,    time_domain_register, stream_open,
    stream_close,           event_write,         event_batch_write,    counter_write,
    counter_no_value_write, counter_batch_write, sync_point,           sync_table,
    conversion_factor};

__attribute__((visibility("default"))) nvtxwResultCode_t
nvtxwGetInterface(nvtxwInterfaceVersion_t version, const void** out) {
  if (version != 2) return NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED;
  *out = &interface_v2;
  return NVTXW_RESULT_SUCCESS;
}
