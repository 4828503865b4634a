/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing down counter calls as JSON lines, shared by the recording injection and backend:
 *   {"call": "schema", "id": .., "fields": [{"name": .., "unit": .., "type": .., ...}]}
 *   {"call": "counter", "id": .., "name": .., "schema": .., "time_domain": ..}
 *   {"call": "batch", "counter": .., "data": "hex", "times": [..]}
 *   {"call": "no_value", "counter": .., "reason": .., "time": ..}
 * Texts that are written hold no quotes or backslashes.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <inttypes.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* out;
static uint64_t last_id = 1000000000000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void open_recording(void) {
  const char* path = getenv("RECORDING_OUTPUT");
  if (!out && path) out = fopen(path, "a");
  if (!out) abort();
}

static void end_line(void) {
  fprintf(out, "}\n");
  fflush(out);
  pthread_mutex_unlock(&lock);
}

static void begin_line(const char* call) {
  pthread_mutex_lock(&lock);
  open_recording();
  fprintf(out, "{\"call\": \"%s\"", call);
}

static const nvtxSemanticsHeader_t* semantics_of(const nvtxSemanticsHeader_t* at, int id) {
  while (at && at->semanticId != id) at = at->next;
  return at;
}

static void write_limit(const char* name, int64_t type, nvtxCounterLimit_t limit) {
  if (type == NVTX_COUNTER_LIMIT_F64)
    fprintf(out, ", \"%s\": %.17g", name, limit.f64);
  else
    fprintf(out, ", \"%s\": %" PRId64, name, limit.i64);
}

static void write_field(const nvtxPayloadSchemaEntry_t* e) {
  fprintf(out, "{\"name\": \"%s\", \"type\": %" PRIu64 ", \"offset\": %" PRIu64, e->name, e->type,
          (uint64_t)e->offset);
  const nvtxSemanticsCounter_t* s = (const nvtxSemanticsCounter_t*)semantics_of(
      (const nvtxSemanticsHeader_t*)e->semantics, NVTX_SEMANTIC_ID_COUNTERS_V1);
  if (s && s->unit) fprintf(out, ", \"unit\": \"%s\"", s->unit);
  if (s && s->flags & NVTX_COUNTER_FLAG_LIMIT_MIN) write_limit("min", s->limitType, s->min);
  if (s && s->flags & NVTX_COUNTER_FLAG_LIMIT_MAX) write_limit("max", s->limitType, s->max);
  fprintf(out, "}");
}

static uint64_t record_schema(const nvtxPayloadSchemaAttr_t* attr) {
  begin_line("schema");
  uint64_t id = ++last_id;
  fprintf(out, ", \"id\": %" PRIu64 ", \"size\": %zu, \"fields\": [", id, attr->payloadStaticSize);
  for (size_t i = 0; i < attr->numEntries; i++) {
    if (i) fprintf(out, ", ");
    write_field(&attr->entries[i]);
  }
  fprintf(out, "]");
  end_line();
  return id;
}

static uint64_t record_counter(const nvtxCounterAttr_t* attr) {
  begin_line("counter");
  uint64_t id = ++last_id;
  const nvtxSemanticsTime_t* time =
      (const nvtxSemanticsTime_t*)semantics_of(attr->semantics, NVTX_SEMANTIC_ID_TIME_V1);
  fprintf(out, ", \"id\": %" PRIu64 ", \"name\": \"%s\", \"schema\": %" PRIu64, id, attr->name,
          attr->schemaId);
  if (attr->description) fprintf(out, ", \"description\": \"%s\"", attr->description);
  if (time) fprintf(out, ", \"time_domain\": %" PRIu64, time->timeDomainId);
  end_line();
  return id;
}

static void record_batch(const nvtxCounterBatch_t* batch) {
  begin_line("batch");
  fprintf(out, ", \"counter\": %" PRIu64 ", \"flags\": %" PRIu64 ", \"data\": \"", batch->counterId,
          batch->flags);
  for (size_t i = 0; i < batch->countersSize; i++)
    fprintf(out, "%02x", ((const unsigned char*)batch->counters)[i]);
  fprintf(out, "\", \"times\": [");
  for (size_t i = 0; i < batch->timestampsSize / sizeof(int64_t); i++)
    fprintf(out, "%s%" PRId64, i ? ", " : "", batch->timestamps[i]);
  fprintf(out, "]");
  end_line();
}

static void record_no_value(uint64_t counter, unsigned reason, int64_t time) {
  begin_line("no_value");
  fprintf(out, ", \"counter\": %" PRIu64 ", \"reason\": %u, \"time\": %" PRId64, counter, reason,
          time);
  end_line();
}

#endif
