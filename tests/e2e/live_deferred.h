// SPDX-License-Identifier: Apache-2.0
// What the programs with deferred events share: schemas of one layout each, and batches of rows.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <stdint.h>
#include <stdio.h>

#define I64 NVTX_PAYLOAD_ENTRY_TYPE_INT64
#define BEGIN (NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP)
#define END (NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP)
#define MARK (NVTX_PAYLOAD_ENTRY_FLAG_MARK | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP)
#define MESSAGE NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE
#define COUNT(array) (sizeof(array) / sizeof(array[0]))

typedef nvtxPayloadSchemaEntry_t Entry;

// A row of a range, a half of one (without its end) or a mark (the same).
typedef struct {
  int64_t begin, end;
  uint64_t id;
  char text[16];
  int32_t value;
  uint32_t category;
} Row;

static uint64_t schema(nvtxDomainHandle_t domain, uint64_t flags, const Entry* entries,
                       size_t count, size_t size) {
  nvtxPayloadSchemaAttr_t given = {0};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.flags = flags;
  given.entries = entries;
  given.numEntries = count;
  if (size) {
    given.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    given.payloadStaticSize = size;
  }
  return nvtxPayloadSchemaRegister(domain, &given);
}

static void submit(nvtxDomainHandle_t domain, uint64_t layout, const void* rows, size_t size,
                   uint64_t scope, uint64_t flags) {
  nvtxEventBatch_t batch = {0};
  batch.eventSchemaId = layout;
  batch.events = rows;
  batch.size = size;
  batch.scope = scope;
  batch.flags = flags;
  nvtxEventBatchSubmit(domain, &batch);
}

static uint64_t scope(nvtxDomainHandle_t domain, const char* path) {
  nvtxScopeAttr_t given = {sizeof(given), path, NVTX_SCOPE_NONE, NVTX_SCOPE_NONE};
  return nvtxScopeRegister(domain, &given);
}
