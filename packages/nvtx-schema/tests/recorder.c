/* SPDX-License-Identifier: Apache-2.0
 * An NVTXW backend that does nothing but write down what it was given, one line a call:
 *   S <id> <flags> <size>          a schema, followed by its entries:
 *   E <flags> <type> <detail> <offset> <unit or -> <name to the end of the line>
 *   T <id> <text>                  a registered string
 *   C <id> <name>                  a category
 *   B <schema id> <hex of the rows>   an event batch; likewise V for single events
 *   N <counter id> <hex of the values> <hex of the timestamps>   a counter batch
 */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtxw3/nvtxw3.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static char* text;
static size_t used, room;
static uint64_t next_id = 100000000; /* above every predefined type */

static void put(const char* format, ...) {
  va_list args;
  va_start(args, format);
  if (used + 4096 > room) text = realloc(text, room = 2 * room + 8192);
  used += (size_t)vsnprintf(text + used, 4096, format, args);
  va_end(args);
}

static void put_hex(const void* data, size_t size) {
  for (size_t i = 0; i < size; ++i) put("%02x", ((const unsigned char*)data)[i]);
}

EXPORT const char* recorder_text(void) { return text ? text : ""; }
EXPORT void recorder_clear(void) {
  used = 0;
  if (text) *text = 0;
}

static nvtxwResultCode_t session_begin(const nvtxwSessionAttributes_t* a,
                                       nvtxwSessionHandle_t* out) {
  (void)a;
  *out = (void*)1;
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t session_end(nvtxwSessionHandle_t s) {
  (void)s;
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t domain(nvtxwSessionHandle_t s, const nvtxwDomainAttributes_t* a,
                                nvtxDomainHandle_t* out) {
  (void)s;
  (void)a;
  *out = (void*)(uintptr_t)++next_id;
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t category(nvtxDomainHandle_t d, uint32_t id, const char* name) {
  (void)d;
  put("C %u %s\n", id, name);
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t string(nvtxDomainHandle_t d, const char* name, nvtxStringHandle_t* out) {
  (void)d;
  *out = (void*)(uintptr_t)++next_id;
  put("T %llu %s\n", (unsigned long long)next_id, name);
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t scope(nvtxDomainHandle_t d, const nvtxScopeAttr_t* a, uint64_t* out) {
  (void)d;
  (void)a;
  *out = ++next_id;
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t counter(nvtxDomainHandle_t d, const nvtxCounterAttr_t* a, uint64_t* out) {
  (void)d;
  (void)a;
  *out = ++next_id;
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t stream(nvtxwSessionHandle_t s, const nvtxwStreamAttributes_t* a,
                                nvtxwStreamHandle_t* out) {
  (void)s;
  (void)a;
  *out = (void*)(uintptr_t)++next_id;
  return NVTXW_RESULT_SUCCESS;
}
static nvtxwResultCode_t stream_end(nvtxwStreamHandle_t s) {
  (void)s;
  return NVTXW_RESULT_SUCCESS;
}

static const char* unit_of(const nvtxPayloadSchemaEntry_t* entry) {
  const nvtxSemanticsHeader_t* header = entry->semantics;
  if (!header || header->semanticId != NVTX_SEMANTIC_ID_COUNTERS_V1) return "-";
  const char* unit = ((const nvtxSemanticsCounter_t*)header)->unit;
  return unit ? unit : "-";
}

static nvtxwResultCode_t schema(nvtxDomainHandle_t d, const nvtxPayloadSchemaAttr_t* a,
                                uint64_t* out) {
  (void)d;
  *out = ++next_id;
  uint64_t flags = a->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS ? a->flags : 0;
  put("S %llu %llu %llu\n", (unsigned long long)next_id, (unsigned long long)flags,
      (unsigned long long)a->payloadStaticSize);
  for (size_t i = 0; i < a->numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t* e = &a->entries[i];
    put("E %llu %llu %llu %llu %s %s\n", (unsigned long long)e->flags, (unsigned long long)e->type,
        (unsigned long long)e->arrayOrUnionDetail, (unsigned long long)e->offset, unit_of(e),
        e->name ? e->name : "");
  }
  return NVTXW_RESULT_SUCCESS;
}

static nvtxwResultCode_t event(nvtxwStreamHandle_t s, const nvtxPayloadData_t* p, size_t count) {
  (void)s;
  for (size_t i = 0; i < count; ++i) {
    put("V %llu ", (unsigned long long)p[i].schemaId);
    put_hex(p[i].payload, p[i].size);
    put("\n");
  }
  return NVTXW_RESULT_SUCCESS;
}

static nvtxwResultCode_t event_batch(nvtxwStreamHandle_t s, const nvtxEventBatch_t* b) {
  (void)s;
  put("B %llu ", (unsigned long long)b->eventSchemaId);
  put_hex(b->events, b->size);
  put("\n");
  return NVTXW_RESULT_SUCCESS;
}

static nvtxwResultCode_t counter_batch(nvtxwStreamHandle_t s, const nvtxCounterBatch_t* b) {
  (void)s;
  put("N %llu ", (unsigned long long)b->counterId);
  put_hex(b->counters, b->countersSize);
  put(" ");
  put_hex(b->timestamps, b->timestampsSize);
  put("\n");
  return NVTXW_RESULT_SUCCESS;
}

static const nvtxwInterface_v2_t interface = {
    .SessionBegin = session_begin,
    .SessionEnd = session_end,
    .DomainRegister = domain,
    .CategoryRegister = category,
    .StringRegister = string,
    .ScopeRegister = scope,
    .SchemaRegister = schema,
    .CounterRegister = counter,
    .StreamOpen = stream,
    .StreamClose = stream_end,
    .EventWrite = event,
    .EventBatchWrite = event_batch,
    .CounterBatchWrite = counter_batch,
};

EXPORT nvtxwResultCode_t nvtxwGetInterface(nvtxwInterfaceVersion_t version, const void** out) {
  if (version != NVTXW_INTERFACE_VERSION) return NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED;
  *out = &interface;
  return NVTXW_RESULT_SUCCESS;
}
