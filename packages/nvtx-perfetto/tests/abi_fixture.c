// SPDX-License-Identifier: Apache-2.0
// What the generated cells stand on: a session with one of everything, and handles and ids that
// are good elsewhere. The generator appends run_cells().
#define NVTX_NO_IMPL
#include <dlfcn.h>
#include <nvtxw3/nvtxw3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REALTIME NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME
#define MONOTONIC NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC

typedef struct {
  int64_t begin;
  int64_t end;
  int32_t number;
  int32_t rest;
} row_t;

static const nvtxwInterface_v2_t* F;
static nvtxwSessionHandle_t SESSION, ended_session, new_session;
static nvtxDomainHandle_t DOMAIN, ended_domain, other_session_domain, new_domain;
static nvtxwStreamHandle_t STREAM, ended_stream, closed_stream, new_stream;
static nvtxStringHandle_t new_string;
static uint64_t new_id, plain_schema, union_schema, dynamic_schema, event_schema, counter_id;
static uint64_t time_domain, other_schema, other_enum, other_scope, other_counter, other_clock;
static void* const garbage = (void*)0xDEADBEEF;
static void* const all_ones = (void*)UINTPTR_MAX;
static const char ill_formed[] = "\xFF\xC0\x80 a";
static char large[100001];
static double zero = 0;
static const row_t row = {10, 20, 5, 0};
static const row_t backward_row = {20, 10, 5, 0};
static const row_t early_row = {-5, -1, 5, 0};
static const double sample = 2.5;
static const double samples[2] = {1, 2};
static const int64_t times[2] = {100, 200};
static const nvtxSyncPoint_t points[2] = {{1, 1}, {9, 9}};
static nvtxSemanticsHeader_t looping_semantics = {16, 77, 1, &looping_semantics};
static nvtxSemanticsHeader_t short_semantics = {2, 5, 1, NULL};
static int cells, wrong, begun;

#define CHECK(label, expected, call)                                  \
  do {                                                                \
    int found = (call);                                               \
    ++cells;                                                          \
    if (found != (expected)) {                                        \
      ++wrong;                                                        \
      printf("%s: %d, expected %d\n", label, found, (int)(expected)); \
    }                                                                 \
  } while (0)

static void must(int code, const char* what) {
  if (code == 0) return;
  printf("the fixture's %s failed with %d\n", what, code);
  exit(2);
}

static uint64_t static_id(void) {
  static uint64_t next = (1u << 24) + 1;
  return next++;
}

static char* numbered(const char* text) {
  static char held[64];
  static int number;
  snprintf(held, sizeof(held), "%s %d", text, number++);
  return held;
}

static nvtxwSessionAttributes_t good_session_attributes(void) {
  // Whatever a cell began before is ended, and its file is in nobody's way.
  if (new_session) F->SessionEnd(new_session);
  new_session = NULL;
  const char* name = numbered("session");
  char path[80];
  snprintf(path, sizeof(path), "%s.pftrace", name);
  unlink(path);
  unlink("session.pftrace");
  nvtxwSessionAttributes_t a = {sizeof(a), name, "overwrite=1"};
  return a;
}

static nvtxwDomainAttributes_t good_domain_attributes(void) {
  nvtxwDomainAttributes_t a = {sizeof(a), "domain"};
  return a;
}

static nvtxResourceAttributes_t good_resource_attributes(void) {
  nvtxResourceAttributes_t a;
  memset(&a, 0, sizeof(a));
  a.version = NVTX_VERSION;
  a.size = sizeof(a);
  a.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
  a.identifier.ullValue = 9;
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = "thread";
  return a;
}

static nvtxScopeAttr_t good_scope_attributes(void) {
  nvtxScopeAttr_t a = {sizeof(a), "a/b", NVTX_SCOPE_NONE, 0};
  return a;
}

// Fields that the mask leaves out are garbage, as nvtx leaves them.
static nvtxPayloadSchemaAttr_t good_schema_attributes(void) {
  static nvtxPayloadSchemaEntry_t entries[2];
  memset(entries, 0, sizeof(entries));
  entries[0].type = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
  entries[0].name = "a";
  entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  entries[1].name = "b";
  nvtxPayloadSchemaAttr_t a;
  memset(&a, 0xCD, sizeof(a));
  a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  a.name = "schema";
  a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  a.flags = NVTX_PAYLOAD_SCHEMA_FLAG_NONE;
  a.entries = entries;
  a.numEntries = 2;
  return a;
}

static nvtxPayloadEnumAttr_t good_enum_attributes(void) {
  static const nvtxPayloadEnum_t labels[2] = {{"one", 1, 0}, {NULL, 2, 1}};
  nvtxPayloadEnumAttr_t a;
  memset(&a, 0xCD, sizeof(a));
  a.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  a.entries = labels;
  a.numEntries = 2;
  a.sizeOfEnum = 4;
  return a;
}

static nvtxCounterAttr_t good_counter_attributes(void) {
  nvtxCounterAttr_t a;
  memset(&a, 0, sizeof(a));
  a.structSize = sizeof(a);
  a.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
  a.name = "counter";
  return a;
}

static nvtxTimeDomainAttr_t good_time_domain_attributes(void) {
  nvtxTimeDomainAttr_t a;
  memset(&a, 0, sizeof(a));
  a.timerResolution = 1000000000;
  return a;
}

static nvtxwStreamAttributes_t good_stream_attributes(void) {
  nvtxwStreamAttributes_t a;
  memset(&a, 0, sizeof(a));
  a.structSize = sizeof(a);
  a.name = numbered("stream");
  a.domain = DOMAIN;
  a.timeDomainId = REALTIME;
  return a;
}

static nvtxPayloadData_t good_payload(void) {
  nvtxPayloadData_t a = {event_schema, sizeof(row), &row};
  return a;
}

static nvtxEventBatch_t good_event_batch(void) {
  nvtxEventBatch_t a;
  memset(&a, 0, sizeof(a));
  a.eventSchemaId = event_schema;
  a.size = sizeof(row);
  a.events = &row;
  return a;
}

static nvtxCounterBatch_t good_counter_batch(void) {
  nvtxCounterBatch_t a = {counter_id, samples, sizeof(samples), 0, times, sizeof(times)};
  return a;
}

static uint64_t add_schema(nvtxDomainHandle_t domain, uint64_t type, uint64_t entry_flags,
                           uint64_t flags) {
  static nvtxPayloadSchemaEntry_t entries[3];
  memset(entries, 0, sizeof(entries));
  int range = flags == NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP;
  entries[0].type = entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  entries[0].flags = range ? NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN : 0;
  entries[1].flags = range ? NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END : 0;
  entries[2].type = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
  entries[2].flags = entry_flags;
  nvtxPayloadSchemaAttr_t a = good_schema_attributes();
  a.type = type;
  a.flags = flags;
  a.entries = entries;
  a.numEntries = 3;
  uint64_t id = 0;
  must(F->SchemaRegister(domain, &a, &id), "SchemaRegister");
  return id;
}

static nvtxwSessionHandle_t begin_session(void) {
  char config[64];
  snprintf(config, sizeof(config), "output=fixture%d.pftrace|overwrite=1", begun++);
  nvtxwSessionAttributes_t a = {sizeof(a), "fixture", config};
  nvtxwSessionHandle_t session = NULL;
  must(F->SessionBegin(&a, &session), "SessionBegin");
  return session;
}

static nvtxDomainHandle_t add_domain(nvtxwSessionHandle_t session, const char* name) {
  nvtxwDomainAttributes_t a = {sizeof(a), name};
  nvtxDomainHandle_t domain = NULL;
  must(F->DomainRegister(session, &a, &domain), "DomainRegister");
  return domain;
}

static nvtxwStreamHandle_t open_stream(nvtxwSessionHandle_t session, nvtxDomainHandle_t domain,
                                       const char* name) {
  nvtxwStreamAttributes_t a = good_stream_attributes();
  a.name = name;
  a.domain = domain;
  nvtxwStreamHandle_t stream = NULL;
  must(F->StreamOpen(session, &a, &stream), "StreamOpen");
  return stream;
}

// The caller's own id 2^24, in every table, so that cells find it taken.
static void take_first_id(void) {
  uint64_t first = 1u << 24;
  nvtxScopeAttr_t scope = good_scope_attributes();
  scope.scopeId = first;
  must(F->ScopeRegister(DOMAIN, &scope, NULL), "static ScopeRegister");
  nvtxPayloadSchemaAttr_t schema = good_schema_attributes();
  schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.schemaId = first;
  must(F->SchemaRegister(DOMAIN, &schema, NULL), "static SchemaRegister");
  nvtxCounterAttr_t counter = good_counter_attributes();
  counter.counterId = first;
  must(F->CounterRegister(DOMAIN, &counter, NULL), "static CounterRegister");
  nvtxTimeDomainAttr_t clock = good_time_domain_attributes();
  clock.timeDomainId = first;
  must(F->TimeDomainRegister(DOMAIN, &clock, NULL), "static TimeDomainRegister");
}

static void set_up_others(nvtxDomainHandle_t other) {
  nvtxScopeAttr_t scope = good_scope_attributes();
  nvtxPayloadEnumAttr_t labels = good_enum_attributes();
  nvtxCounterAttr_t counter = good_counter_attributes();
  nvtxTimeDomainAttr_t clock = good_time_domain_attributes();
  other_schema = add_schema(other, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, 0);
  must(F->ScopeRegister(other, &scope, &other_scope), "other ScopeRegister");
  must(F->EnumRegister(other, &labels, &other_enum), "other EnumRegister");
  must(F->CounterRegister(other, &counter, &other_counter), "other CounterRegister");
  must(F->TimeDomainRegister(other, &clock, &other_clock), "other TimeDomainRegister");
}

static void set_up(void) {
  memset(large, 'x', sizeof(large) - 1);
  ended_session = begin_session();
  ended_domain = add_domain(ended_session, "ended");
  ended_stream = open_stream(ended_session, ended_domain, "ended");
  must(F->SessionEnd(ended_session), "SessionEnd");
  SESSION = begin_session();
  DOMAIN = add_domain(SESSION, "domain");
  other_session_domain = add_domain(begin_session(), "elsewhere");
  set_up_others(add_domain(SESSION, "other"));
  take_first_id();
  plain_schema = add_schema(DOMAIN, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, 0);
  union_schema = add_schema(DOMAIN, NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 0, 0);
  dynamic_schema = add_schema(DOMAIN, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
                              NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, 0);
  event_schema = add_schema(DOMAIN, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0,
                            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP);
  nvtxCounterAttr_t counter = good_counter_attributes();
  must(F->CounterRegister(DOMAIN, &counter, &counter_id), "CounterRegister");
  nvtxTimeDomainAttr_t clock = good_time_domain_attributes();
  must(F->TimeDomainRegister(DOMAIN, &clock, &time_domain), "TimeDomainRegister");
  STREAM = open_stream(SESSION, DOMAIN, "main");
  closed_stream = open_stream(SESSION, DOMAIN, "closed");
  must(F->StreamClose(closed_stream), "StreamClose");
}

static void run_cells(void);

static void check_interface(nvtxwGetInterface_t get) {
  const void* table = garbage;
  for (int version = -1; version < 5; ++version) {
    if (version == 2) continue;
    CHECK("GetInterface: another version", NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED,
          get(version, &table));
    CHECK("GetInterface: no table", 1, table == NULL);
  }
  CHECK("GetInterface: no place for the table", NVTXW_RESULT_INVALID_ARGUMENT, get(2, NULL));
  CHECK("GetInterface: version 2", NVTXW_RESULT_SUCCESS, get(2, &table));
  F = (const nvtxwInterface_v2_t*)table;
  for (int i = 0; i < 43; ++i) CHECK("reserved members are NULL", 1, F->reserved[i] == NULL);
}

// Early times were dropped, so the session says that data was lost; then all its handles end.
static void check_end(void) {
  CHECK("StreamClose: good", NVTXW_RESULT_SUCCESS, F->StreamClose(STREAM));
  CHECK("StreamClose: again", NVTXW_RESULT_INVALID_ARGUMENT, F->StreamClose(STREAM));
  CHECK("SessionEnd: after dropped events", NVTXW_RESULT_FAILED, F->SessionEnd(SESSION));
  CHECK("SessionEnd: again", NVTXW_RESULT_INVALID_ARGUMENT, F->SessionEnd(SESSION));
  CHECK("StringRegister: after the end", NVTXW_RESULT_INVALID_ARGUMENT,
        F->StringRegister(DOMAIN, "x", &new_string));
}

int main(int count, char** arguments) {
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (!library) {
    printf("the library was not loaded: %s\n", count > 1 ? dlerror() : "give its path");
    return 2;
  }
  check_interface((nvtxwGetInterface_t)dlsym(library, "nvtxwGetInterface"));
  set_up();
  run_cells();
  check_end();
  ((nvtxwFinalize_t)dlsym(library, "nvtxwFinalize"))();
  ((nvtxwFinalize_t)dlsym(library, "nvtxwFinalize"))();
  printf("%d cells, %d wrong\n", cells, wrong);
  return wrong == 0 ? 0 : 1;
}
