// SPDX-License-Identifier: Apache-2.0
// Ids of the program's own, and batches that a trace has no place for; what becomes of them is in
// the test beside it. Ends with the number of what the tool answered wrongly.
#include "live_deferred.h"

#include <nvtx3/nvToolsExtCounters.h>

static const uint64_t kOwnId = NVTX_COUNTER_ID_STATIC_START + 7;

static nvtxDomainHandle_t domain;
static int64_t values[] = {5, 6};
static int64_t times[2];

static int own_ids(void) {
  nvtxCounterAttr_t counter = {0};
  counter.structSize = sizeof(counter);
  counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  counter.name = "own";
  counter.counterId = kOwnId;
  nvtxScopeAttr_t inner = {sizeof(inner), "inner", scope(domain, "outer"), NVTX_SCOPE_NONE};
  counter.scopeId = nvtxScopeRegister(domain, &inner);
  int wrong = nvtxCounterRegister(domain, &counter) != kOwnId;
  Entry entry = {MARK, I64, "t", NULL, 0, 0, NULL, NULL};
  nvtxPayloadSchemaAttr_t layout = {0};
  layout.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  layout.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  layout.flags = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
  layout.entries = &entry;
  layout.numEntries = 1;
  layout.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  wrong += nvtxPayloadSchemaRegister(domain, &layout) != layout.schemaId;
  nvtxResourceAttributes_t resource = {0};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  return wrong + (nvtxDomainResourceCreate(domain, &resource) == NULL);
}

// A group whose samples bring their times along.
static void timed_group(void) {
  Entry entries[] = {{MARK, I64, "t", NULL, 0, 0, NULL, NULL},
                     {0, I64, "value", NULL, 0, 8, NULL, NULL}};
  nvtxCounterAttr_t counter = {0};
  counter.structSize = sizeof(counter);
  counter.schemaId = schema(domain, 0, entries, 2, sizeof(values));
  counter.name = "timed";
  int64_t sample[] = {times[0] + 20, 9};
  nvtxCounterSample(domain, nvtxCounterRegister(domain, &counter), sample, sizeof(sample));
}

static void samples(size_t count, uint64_t flags) {
  nvtxCounterBatch_t batch = {0};
  batch.counterId = kOwnId;
  batch.counters = values;
  batch.countersSize = sizeof(values);
  batch.flags = flags;
  batch.timestamps = times;
  batch.timestampsSize = count * sizeof(times[0]);
  nvtxCounterBatchSubmit(domain, &batch);
}

int main(void) {
  domain = nvtxDomainCreateA("registrations");
  times[0] = nvtxTimestampGet();
  times[1] = times[0] + 10;
  printf("%lld\n", (long long)times[0]);
  int wrong = own_ids();
  timed_group();
  samples(2, 0);
  samples(1, 0);  // too few times
  samples(2, NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR);
  nvtxEventBatch_t beside = {0};
  beside.eventSchemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  beside.events = times;
  beside.size = sizeof(times);
  beside.flexData = values;  // rows are taken, what lies beside them is not
  beside.flexDataSize = sizeof(values);
  nvtxEventBatchSubmit(domain, &beside);
  return wrong;
}
