// SPDX-License-Identifier: Apache-2.0
// An NVTX injection that keeps every call in memory, for tests to read through recording_*.
//
// NVTX serves one tool only. Where RECORDING_NEXT names another's library, that one is told all the
// same, and the program gets its handles.

#define NVTX_NO_IMPL
#include <dlfcn.h>
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
static char* texts[TEXTS];  // registered strings, domain names and category names
enum { DOMAIN, STRING, CATEGORY };
static struct {
  int kind;
  uint64_t handle;
} given[TEXTS];  // what the program calls each text by
static size_t text_count = 1;
static uint64_t schema_count = 1u << 24;

static void* next_library;
static struct {
  int(NVTX_API* push)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
  int(NVTX_API* pop)(nvtxDomainHandle_t);
  void(NVTX_API* mark)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
  nvtxDomainHandle_t(NVTX_API* create_domain)(const char*);
  nvtxStringHandle_t(NVTX_API* register_string)(nvtxDomainHandle_t, const char*);
  void(NVTX_API* name_category)(nvtxDomainHandle_t, uint32_t, const char*);
  uint64_t(NVTX_API* register_schema)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*);
} next;

static void* grown(void* items, size_t count, size_t* room, size_t size) {
  if (count < *room) return items;
  *room = *room ? *room * 2 : 1024;
  return realloc(items, *room * size);
}

// Answers the handle: the next tool's, or else the text's index.
static void* keep(int kind, const char* text, const void* handle) {
  pthread_mutex_lock(&lock);
  if (text_count == TEXTS) abort();
  texts[text_count] = strdup(text);
  given[text_count].kind = kind;
  given[text_count].handle = next_library ? (uint64_t)(uintptr_t)handle : text_count;
  void* answer = (void*)(uintptr_t)given[text_count++].handle;
  pthread_mutex_unlock(&lock);
  return answer;
}

static size_t index_of(int kind, const void* handle) {
  size_t i = text_count - 1;
  while (i && !(given[i].kind == kind && given[i].handle == (uint64_t)(uintptr_t)handle)) i--;
  return i;
}

static void fill(event_t* event, const nvtxEventAttributes_t* attributes) {
  event->category = attributes->category;
  event->color = attributes->color;
  const char* text = "";
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) text = attributes->message.ascii;
  if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    text = texts[index_of(STRING, attributes->message.registered)];
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
  event->domain = index_of(DOMAIN, domain);
  if (attributes) fill(event, attributes);
  pthread_mutex_unlock(&lock);
}

static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  add(0, domain, attributes);
  return next.push ? next.push(domain, attributes) : -1;
}

static int NVTX_API pop(nvtxDomainHandle_t domain) {
  add(1, domain, NULL);
  return next.pop ? next.pop(domain) : -1;
}

static void NVTX_API mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  add(2, domain, attributes);
  if (next.mark) next.mark(domain, attributes);
}

static nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  return keep(DOMAIN, name, next.create_domain ? next.create_domain(name) : NULL);
}

static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char* text) {
  return keep(STRING, text, next.register_string ? next.register_string(domain, text) : NULL);
}

static void NVTX_API name_category(nvtxDomainHandle_t domain, uint32_t id, const char* name) {
  char text[256];
  snprintf(text, sizeof text, "category %zu %u %s", index_of(DOMAIN, domain), id, name);
  keep(CATEGORY, text, NULL);
  if (next.name_category) next.name_category(domain, id, name);
}

static uint64_t NVTX_API register_schema(nvtxDomainHandle_t domain,
                                         const nvtxPayloadSchemaAttr_t* schema) {
  uint64_t id = next.register_schema ? next.register_schema(domain, schema) : 0;
  pthread_mutex_lock(&lock);
  if (!id) id = ++schema_count;
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

// The answer of the next tool's function of a name to the same question, or 0 where there is none.
static int ask_next(const char* function, void* question) {
  const char* path = getenv("RECORDING_NEXT");
  if (!next_library && path) next_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!next_library) return 0;
  int(NVTX_API * ask)(void*) = (int(NVTX_API*)(void*))dlsym(next_library, function);
  return ask ? ask(question) : 0;
}

#define SERVE(id, function)                                    \
  if ((id) < size && table[id]) {                              \
    if (has_next) *(void**)&next.function = (void*)*table[id]; \
    *table[id] = (NvtxFunctionPointer)(function);              \
  }

EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const NvtxExportTableCallbacks* callbacks =
      (const NvtxExportTableCallbacks*)get(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned int size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  int has_next = ask_next("InitializeInjectionNvtx2", (void*)get);
  SERVE(NVTX_CBID_CORE2_DomainRangePushEx, push);
  SERVE(NVTX_CBID_CORE2_DomainRangePop, pop);
  SERVE(NVTX_CBID_CORE2_DomainMarkEx, mark);
  SERVE(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  SERVE(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  SERVE(NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
  return 1;
}

EXPORT int NVTX_API InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  int has_next = ask_next("InitializeInjectionNvtxExtension", module);
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return has_next;
  intptr_t* slots = module->segments[0].functionSlots;
  if (has_next) *(intptr_t*)&next.register_schema = slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister];
  slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] = (intptr_t)register_schema;
  return 1;
}
