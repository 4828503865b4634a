// SPDX-License-Identifier: Apache-2.0
// A C program that makes every kind of core NVTX call; its rows are in the test beside it. Given
// libraries as arguments, it opens each and lets it mark from an NVTX copy of its own.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static nvtxEventAttributes_t named(nvtxStringHandle_t name) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  return event;
}

static void default_domain(void) {
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "the main thread");
  nvtxNameCategoryA(3, "third");
  nvtxRangePushA("ascii");
  nvtxRangePushW(L"wide \u263A");
  nvtxMarkA("mark");
  nvtxMarkW(L"wide mark");
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangeId_t id = nvtxRangeStartA("started");
  nvtxRangeEnd(id);
}

static void own_domain(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateW(L"w\u00EFde domain");
  nvtxDomainNameCategoryW(domain, 1, L"first");
  nvtxDomainNameCategoryW(domain, 2, L"second");
  nvtxEventAttributes_t event = named(nvtxDomainRegisterStringW(domain, L"registered"));
  event.category = 1;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xFF112233;
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  event.payload.uiValue = 4000000000u;
  nvtxDomainRangePushEx(domain, &event);
  event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  event.payload.fValue = 0.5f;
  nvtxDomainMarkEx(domain, &event);
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.iValue = -5;
  nvtxDomainMarkEx(domain, &event);
  nvtxDomainRangePop(domain);
  nvtxResourceAttributes_t resource = {0};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  nvtxDomainResourceCreate(domain, &resource);
  nvtxDomainDestroy(domain);
  nvtxDomainMarkEx(domain, &event);  // its handle is good no more
}

static void payloads(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
  const nvtxPayloadEnum_t labels[] = {{"off", 0, 0}, {"on", 1, 0}};
  nvtxPayloadEnumAttr_t state = {0};
  state.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  state.entries = labels;
  state.numEntries = 2;
  state.sizeOfEnum = 4;
  uint64_t state_id = nvtxPayloadEnumRegister(domain, &state);
  nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "count", NULL, 0, 0, NULL, NULL},
      {0, state_id, "state", NULL, 0, 4, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 8, 8,
       NULL, NULL}};
  nvtxPayloadSchemaAttr_t schema = {0};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 3;
  schema.payloadStaticSize = 16;
  uint64_t schema_id = nvtxPayloadSchemaRegister(domain, &schema);
  struct {
    int32_t count, state;
    char text[8];
  } row = {7, 1, "by row"};
  nvtxPayloadData_t data = {schema_id, sizeof(row), &row};
  nvtxRangePushPayload(domain, &data, 1);
  double result = 1.5;
  nvtxPayloadData_t end = {NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, sizeof(result), &result};
  nvtxRangePopPayload(domain, &end, 1);
  nvtxMarkPayload(domain, &data, 1);
  nvtxPayloadData_t both[] = {data, end};
  nvtxMarkPayload(domain, both, 2);
  const nvtxPayloadSchemaEntry_t name = {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
                                         NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
                                         "name",
                                         NULL,
                                         0,
                                         0,
                                         NULL,
                                         NULL};
  schema.entries = &name;
  schema.numEntries = 1;
  schema.payloadStaticSize = sizeof(nvtxStringHandle_t);
  nvtxStringHandle_t handle = nvtxDomainRegisterStringA(domain, "by handle");
  nvtxPayloadData_t named = {nvtxPayloadSchemaRegister(domain, &schema), sizeof(handle), &handle};
  nvtxMarkPayload(domain, &named, 1);
}

int main(int count, char** arguments) {
  default_domain();
  own_domain();
  payloads();
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
    void (*mark)(const char*) = library ? (void (*)(const char*))dlsym(library, "mark_here") : NULL;
    if (!mark) return 1;
    mark(arguments[i]);
  }
  return 0;
}
