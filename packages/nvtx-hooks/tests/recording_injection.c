// SPDX-License-Identifier: Apache-2.0
// An NVTX injection that keeps every call in memory, for tests to read through recording_*.

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define TEXTS 65536
#define PAYLOAD 256

typedef struct {
  int32_t kind;  // 0 push, 1 pop, 2 mark
  int32_t thread;
  uint32_t category;
  uint32_t color;
  uint64_t domain;
  uint64_t schema;
  char message[1100];
  uint8_t payload[PAYLOAD];
} event_t;

typedef struct {
  uint64_t schema;
  uint64_t type;
  uint64_t offset;
  uint64_t detail;
  char name[64];
} entry_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static event_t* events;
static size_t event_count, event_room;
static entry_t* entries;
static size_t entry_count, entry_room;
static char* texts[TEXTS];  // registered strings, domain names and category names, by handle
static size_t text_count = 1;
static uint64_t schema_count = 1u << 24;

static void* grown(void* items, size_t count, size_t* room, size_t size) {
  if (count < *room) return items;
  *room = *room ? *room * 2 : 1024;
  return realloc(items, *room * size);
}

static size_t keep(const char* text) {
  if (text_count == TEXTS) abort();
  texts[text_count] = strdup(text);
  return text_count++;
}

static void fill(event_t* event, const nvtxEventAttributes_t* attributes) {
  event->category = attributes->category;
  event->color = attributes->color;
  const char* text = "";
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) text = attributes->message.ascii;
  if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    text = texts[(size_t)attributes->message.registered];
  snprintf(event->message, sizeof event->message, "%s", text);
  if (attributes->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    const nvtxPayloadData_t* data =
        (const nvtxPayloadData_t*)(uintptr_t)attributes->payload.ullValue;
    event->schema = data->schemaId;
    memcpy(event->payload, data->payload, data->size < PAYLOAD ? data->size : PAYLOAD);
  }
}

static void add(int kind, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  pthread_mutex_lock(&lock);
  events = grown(events, event_count, &event_room, sizeof *events);
  event_t* event = memset(&events[event_count++], 0, sizeof *events);
  event->kind = kind;
  event->thread = (int32_t)syscall(SYS_gettid);
  event->domain = (uint64_t)(uintptr_t)domain;
  if (attributes) fill(event, attributes);
  pthread_mutex_unlock(&lock);
}

static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  add(0, domain, attributes);
  return -1;
}

static int NVTX_API pop(nvtxDomainHandle_t domain) {
  add(1, domain, NULL);
  return -1;
}

static void NVTX_API mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  add(2, domain, attributes);
}

static nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  pthread_mutex_lock(&lock);
  size_t handle = keep(name);
  pthread_mutex_unlock(&lock);
  return (nvtxDomainHandle_t)handle;
}

static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char* text) {
  (void)domain;
  return (nvtxStringHandle_t)create_domain(text);
}

static void NVTX_API name_category(nvtxDomainHandle_t domain, uint32_t id, const char* name) {
  char text[256];
  snprintf(text, sizeof text, "category %llu %u %s", (unsigned long long)(uintptr_t)domain, id,
           name);
  create_domain(text);
}

static uint64_t NVTX_API register_schema(nvtxDomainHandle_t domain,
                                         const nvtxPayloadSchemaAttr_t* schema) {
  (void)domain;
  pthread_mutex_lock(&lock);
  uint64_t id = ++schema_count;
  for (size_t i = 0; i < schema->numEntries; i++) {
    const nvtxPayloadSchemaEntry_t* from = &schema->entries[i];
    entries = grown(entries, entry_count, &entry_room, sizeof *entries);
    entry_t* entry = memset(&entries[entry_count++], 0, sizeof *entries);
    *entry = (entry_t){id, from->type, from->offset, from->arrayOrUnionDetail, ""};
    snprintf(entry->name, sizeof entry->name, "%s", from->name ? from->name : "");
  }
  pthread_mutex_unlock(&lock);
  return id;
}

EXPORT size_t recording_events(const event_t** first) {
  *first = events;
  return event_count;
}

EXPORT size_t recording_entries(const entry_t** first) {
  *first = entries;
  return entry_count;
}

EXPORT size_t recording_texts(char*** first) {
  *first = texts;
  return text_count;
}

EXPORT void recording_clear(void) { event_count = 0; }

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
  SERVE(NVTX_CBID_CORE2_DomainMarkEx, mark);
  SERVE(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  SERVE(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  SERVE(NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
  return 1;
}

EXPORT int NVTX_API InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  intptr_t* slots = module->segments[0].functionSlots;
  slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] = (intptr_t)register_schema;
  return 1;
}
