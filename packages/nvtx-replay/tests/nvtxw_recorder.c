/* SPDX-License-Identifier: Apache-2.0 */
/* An NVTXW backend that writes every call, one line each, to the file that the session's
 * configuration names as output. Texts and bytes are in hexadecimal. A configuration entry
 * "fail=Member" makes that member answer FAILED. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtxw3/nvtxw3.h>

static FILE* out;
static char failing[64];
static uint64_t last_id = 1000;

static nvtxwResultCode_t done(const char* member) {
  fprintf(out, "\n");
  fflush(out);
  return strcmp(failing, member) == 0 ? NVTXW_RESULT_FAILED : NVTXW_RESULT_SUCCESS;
}

static void hex(const char* key, const void* data, size_t size) {
  const unsigned char* bytes = (const unsigned char*)data;
  fprintf(out, " %s=x", key);
  for (size_t i = 0; i < size; ++i) fprintf(out, "%02x", bytes[i]);
}

static void text(const char* key, const char* value) {
  if (value) hex(key, value, strlen(value));
}

static void number(const char* key, long long value) { fprintf(out, " %s=%lld", key, value); }

static uint64_t new_id(void) {
  number("id", (long long)++last_id);
  return last_id;
}

static void option(const char* config, const char* key, char* value, size_t size) {
  const char* at = config ? strstr(config, key) : NULL;
  value[0] = 0;
  if (!at) return;
  at += strlen(key);
  size_t length = strcspn(at, "\n|");
  if (length >= size) length = size - 1;
  memcpy(value, at, length);
  value[length] = 0;
}

static nvtxwResultCode_t SessionBegin(const nvtxwSessionAttributes_t* attr,
                                      nvtxwSessionHandle_t* session) {
  char path[4096];
  option(attr->configString, "output=", path, sizeof path);
  option(attr->configString, "fail=", failing, sizeof failing);
  out = path[0] ? fopen(path, "w") : NULL;
  if (!out) return NVTXW_RESULT_FAILED;
  fprintf(out, "SessionBegin");
  text("name", attr->name);
  text("config", attr->configString);
  *session = (nvtxwSessionHandle_t)(uintptr_t)new_id();
  return done("SessionBegin");
}

static nvtxwResultCode_t SessionEnd(nvtxwSessionHandle_t session) {
  (void)session;
  fprintf(out, "SessionEnd");
  nvtxwResultCode_t code = done("SessionEnd");
  fclose(out);
  return code;
}

static nvtxwResultCode_t DomainRegister(nvtxwSessionHandle_t session,
                                        const nvtxwDomainAttributes_t* attr,
                                        nvtxDomainHandle_t* domain) {
  (void)session;
  fprintf(out, "DomainRegister");
  text("name", attr->name);
  *domain = (nvtxDomainHandle_t)(uintptr_t)new_id();
  return done("DomainRegister");
}

static nvtxwResultCode_t CategoryRegister(nvtxDomainHandle_t domain, uint32_t category,
                                          const char* name) {
  (void)domain;
  fprintf(out, "CategoryRegister");
  number("category", category);
  text("name", name);
  return done("CategoryRegister");
}

static nvtxwResultCode_t StringRegister(nvtxDomainHandle_t domain, const char* string,
                                        nvtxStringHandle_t* handle) {
  (void)domain;
  fprintf(out, "StringRegister");
  text("text", string);
  *handle = (nvtxStringHandle_t)(uintptr_t)new_id();
  return done("StringRegister");
}

static nvtxwResultCode_t ResourceRegister(nvtxDomainHandle_t domain,
                                          const nvtxResourceAttributes_t* attr) {
  (void)domain;
  (void)attr;
  fprintf(out, "ResourceRegister");
  return done("ResourceRegister");
}

static nvtxwResultCode_t ScopeRegister(nvtxDomainHandle_t domain, const nvtxScopeAttr_t* attr,
                                       uint64_t* id) {
  (void)domain;
  fprintf(out, "ScopeRegister");
  text("path", attr->path);
  *id = new_id();
  return done("ScopeRegister");
}

static nvtxwResultCode_t SchemaRegister(nvtxDomainHandle_t domain,
                                        const nvtxPayloadSchemaAttr_t* attr, uint64_t* id) {
  (void)domain;
  fprintf(out, "SchemaRegister");
  number("flags",
         attr->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS ? (long long)attr->flags : 0);
  number("size", (long long)attr->payloadStaticSize);
  for (size_t i = 0; i < attr->numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t* entry = &attr->entries[i];
    fprintf(out, " entry=%llu:%llu:%llu:%llu:", (unsigned long long)entry->flags,
            (unsigned long long)entry->type, (unsigned long long)entry->offset,
            (unsigned long long)entry->arrayOrUnionDetail);
    for (const char* c = entry->name ? entry->name : ""; *c; ++c)
      fprintf(out, "%02x", (unsigned char)*c);
  }
  *id = new_id();
  return done("SchemaRegister");
}

static nvtxwResultCode_t EnumRegister(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attr,
                                      uint64_t* id) {
  (void)domain;
  (void)attr;
  fprintf(out, "EnumRegister");
  *id = new_id();
  return done("EnumRegister");
}

static nvtxwResultCode_t CounterRegister(nvtxDomainHandle_t domain, const nvtxCounterAttr_t* attr,
                                         uint64_t* id) {
  (void)domain;
  fprintf(out, "CounterRegister");
  text("name", attr->name);
  number("schema", (long long)attr->schemaId);
  number("scope", (long long)attr->scopeId);
  if (attr->semantics) text("unit", ((const nvtxSemanticsCounter_t*)attr->semantics)->unit);
  *id = new_id();
  return done("CounterRegister");
}

static nvtxwResultCode_t TimeDomainRegister(nvtxDomainHandle_t domain,
                                            const nvtxTimeDomainAttr_t* attr, uint64_t* id) {
  (void)domain;
  (void)attr;
  fprintf(out, "TimeDomainRegister");
  *id = new_id();
  return done("TimeDomainRegister");
}

static nvtxwResultCode_t StreamOpen(nvtxwSessionHandle_t session,
                                    const nvtxwStreamAttributes_t* attr,
                                    nvtxwStreamHandle_t* stream) {
  (void)session;
  fprintf(out, "StreamOpen");
  text("name", attr->name);
  number("time", (long long)attr->timeDomainId);
  number("ordering", attr->orderingType);
  number("scope", (long long)attr->scopeId);
  *stream = (nvtxwStreamHandle_t)(uintptr_t)new_id();
  return done("StreamOpen");
}

static nvtxwResultCode_t StreamClose(nvtxwStreamHandle_t stream) {
  fprintf(out, "StreamClose");
  number("stream", (long long)(uintptr_t)stream);
  return done("StreamClose");
}

static nvtxwResultCode_t EventWrite(nvtxwStreamHandle_t stream, const nvtxPayloadData_t* payloads,
                                    size_t count) {
  fprintf(out, "EventWrite");
  number("stream", (long long)(uintptr_t)stream);
  for (size_t i = 0; i < count; ++i) {
    number("schema", (long long)payloads[i].schemaId);
    hex("data", payloads[i].payload, payloads[i].size);
  }
  return done("EventWrite");
}

static nvtxwResultCode_t EventBatchWrite(nvtxwStreamHandle_t stream,
                                         const nvtxEventBatch_t* batch) {
  fprintf(out, "EventBatchWrite");
  number("stream", (long long)(uintptr_t)stream);
  number("schema", (long long)batch->eventSchemaId);
  number("flags", (long long)batch->flags);
  hex("data", batch->events, batch->size);
  return done("EventBatchWrite");
}

static nvtxwResultCode_t CounterWrite(nvtxwStreamHandle_t stream, int64_t time, uint64_t counter,
                                      const void* data, size_t size) {
  (void)stream;
  fprintf(out, "CounterWrite");
  number("time", time);
  number("counter", (long long)counter);
  hex("data", data, size);
  return done("CounterWrite");
}

static nvtxwResultCode_t CounterNoValueWrite(nvtxwStreamHandle_t stream, int64_t time,
                                             uint64_t counter, uint8_t reason) {
  (void)stream;
  fprintf(out, "CounterNoValueWrite");
  number("time", time);
  number("counter", (long long)counter);
  number("reason", reason);
  return done("CounterNoValueWrite");
}

static nvtxwResultCode_t CounterBatchWrite(nvtxwStreamHandle_t stream,
                                           const nvtxCounterBatch_t* batch) {
  (void)stream;
  fprintf(out, "CounterBatchWrite");
  number("counter", (long long)batch->counterId);
  number("flags", (long long)batch->flags);
  hex("times", batch->timestamps, batch->timestampsSize);
  hex("data", batch->counters, batch->countersSize);
  return done("CounterBatchWrite");
}

static nvtxwResultCode_t TimeSyncPointWrite(nvtxwStreamHandle_t stream, uint64_t domain1,
                                            uint64_t domain2, int64_t time1, int64_t time2) {
  (void)stream, (void)domain1, (void)domain2, (void)time1, (void)time2;
  return NVTXW_RESULT_NOT_SUPPORTED;
}

static nvtxwResultCode_t TimeSyncPointTableWrite(nvtxwStreamHandle_t stream, uint64_t source,
                                                 uint64_t target, const nvtxSyncPoint_t* points,
                                                 size_t count) {
  (void)stream, (void)source, (void)target, (void)points, (void)count;
  return NVTXW_RESULT_NOT_SUPPORTED;
}

static nvtxwResultCode_t TimestampConversionFactorWrite(nvtxwStreamHandle_t stream, uint64_t source,
                                                        uint64_t target, double slope, int64_t from,
                                                        int64_t to) {
  (void)stream, (void)source, (void)target, (void)slope, (void)from, (void)to;
  return NVTXW_RESULT_NOT_SUPPORTED;
}

static const nvtxwInterface_v2_t table = {SessionBegin,
                                          SessionEnd,
                                          DomainRegister,
                                          CategoryRegister,
                                          StringRegister,
                                          ResourceRegister,
                                          ScopeRegister,
                                          SchemaRegister,
                                          EnumRegister,
                                          CounterRegister,
                                          TimeDomainRegister,
                                          StreamOpen,
                                          StreamClose,
                                          EventWrite,
                                          EventBatchWrite,
                                          CounterWrite,
                                          CounterNoValueWrite,
                                          CounterBatchWrite,
                                          TimeSyncPointWrite,
                                          TimeSyncPointTableWrite,
                                          TimestampConversionFactorWrite,
                                          {0}};

__attribute__((visibility("default"))) nvtxwResultCode_t
nvtxwGetInterface(nvtxwInterfaceVersion_t version, const void** interface) {
  if (version != NVTXW_INTERFACE_VERSION) return NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED;
  *interface = &table;
  return NVTXW_RESULT_SUCCESS;
}
