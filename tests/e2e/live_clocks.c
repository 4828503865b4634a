// SPDX-License-Identifier: Apache-2.0
// Marks on every kind of clock that a program can name or tie, all of one moment; the test beside
// it says where each must lie. Prints that moment on the tool's clock.
#include "live_deferred.h"

#include <nvtx3/nvToolsExtCounters.h>
#include <time.h>

#define TOOL NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED

static nvtxDomainHandle_t domain;
static int64_t base;

static int64_t clock_now(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t own_clock(void) { return (nvtxTimestampGet() - 5000000000) / 100; }
static int64_t own_clock_of(void* start) { return nvtxTimestampGet() - *(int64_t*)start; }

static uint64_t time_domain(uint64_t type, int64_t resolution, uint64_t start) {
  nvtxTimeDomainAttr_t given = {NVTX_SCOPE_NONE, type, 0, 0, resolution, start};
  return nvtxTimeDomainRegister(domain, &given);
}

static void mark(const char* text, uint64_t clock, int64_t ticks) {
  nvtxSemanticsTime_t semantics = {
      {sizeof(semantics), NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION, NULL}, clock};
  Entry entries[] = {{MARK, I64, "t", NULL, 0, 0, &semantics.header, NULL},
                     {MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 24, 8, NULL, NULL}};
  struct {
    int64_t time;
    char text[24];
  } row = {ticks, ""};
  snprintf(row.text, sizeof(row.text), "%s", text);
  submit(domain, schema(domain, NVTX_PAYLOAD_SCHEMA_FLAG_MARK, entries, 2, sizeof(row)), &row,
         sizeof(row), NVTX_SCOPE_NONE, 0);
}

static void named_clocks(void) {
  mark("tool", TOOL, nvtxTimestampGet());
  mark("unnamed", NVTX_TIMESTAMP_TYPE_NONE, nvtxTimestampGet());
  mark("realtime", NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME, clock_now(CLOCK_REALTIME));
  mark("monotonic", NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC, clock_now(CLOCK_MONOTONIC));
  mark("raw", NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_RAW, clock_now(CLOCK_MONOTONIC_RAW));
  mark("boottime", NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_BOOTTIME, clock_now(CLOCK_BOOTTIME));
  mark("seconds", NVTX_TIMESTAMP_TYPE_C_TIME, clock_now(CLOCK_REALTIME) / 1000000000);
  mark("own epoch", time_domain(0, 1000, NVTX_TIMER_START_UNIX_EPOCH),
       clock_now(CLOCK_REALTIME) / 1000000);
#ifdef __x86_64__
  mark("processor", NVTX_TIMESTAMP_TYPE_CPU_TSC, (int64_t)__builtin_ia32_rdtsc());
#endif
}

// Ticks of a microsecond; the points come after the events, and exactly on the time line.
static void tied_clocks(void) {
  uint64_t tied = time_domain(0, 1000000, 0);
  mark("tied", tied, 500);
  nvtxTimeSyncPoint(domain, tied, TOOL, 0, base);
  nvtxSyncPoint_t rest[] = {{1000, base + 1000000}, {2000, base + 2000000}};
  nvtxTimeSyncPointTable(domain, tied, TOOL, rest, 2);
  uint64_t chained = time_domain(0, 0, 0);
  nvtxTimeSyncPoint(domain, tied, chained, 1000, 77);
  mark("chained", chained, 78);
  nvtxTimeSyncPoint(domain, tied, TOOL, INT64_MAX, base);  // beyond all time
  uint64_t factor = time_domain(0, 250000000, 0);          // a factor is of ticks, however long
  nvtxTimestampConversionFactor(domain, factor, TOOL, 2.5, 1000, base);
  mark("factor", factor, 1400);
  nvtxTimestampConversionFactor(domain, factor, TOOL, -1, 0, 0);  // no clock runs back
  mark("nowhere", time_domain(0, 0, 0), 5);
}

static void read_clocks(void) {
  static int64_t start;
  start = base - 123;
  uint64_t read = time_domain(0, 10000000, 0);
  nvtxTimerSource(domain, read, NVTX_TIMER_SOURCE_SAFE_CALL_AFTER_PROCESS_TEARDOWN, own_clock);
  uint64_t with_data = time_domain(0, 0, 0);
  nvtxTimerSourceWithData(domain, with_data, 1, own_clock_of, &start);
  nvtxTimerSource(domain, read, 0, NULL);
  mark("read", read, own_clock());
  mark("read with data", with_data, own_clock_of(&start));
}

// A scope's clock is that of its events; samples wait for their ties as events do.
static void scopes_and_counters(void) {
  nvtxTimeDomainAttr_t given = {scope(domain, "device"), 0, 0, 0, 0, 0};
  uint64_t device = nvtxTimeDomainRegister(domain, &given);
  nvtxTimeSyncPoint(domain, device, TOOL, 10, base + 10);
  Entry entries[] = {{MARK, I64, "t", NULL, 0, 0, NULL, NULL}};
  int64_t time = 25;
  submit(domain, schema(domain, NVTX_PAYLOAD_SCHEMA_FLAG_MARK, entries, 1, 8), &time, 8,
         given.scopeId, 0);
  nvtxCounterAttr_t counter = {0};
  counter.structSize = sizeof(counter);
  counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  counter.name = "power";
  counter.scopeId = given.scopeId;
  nvtxCounterBatch_t batch = {0};
  int64_t values[] = {5, 6};
  int64_t times[] = {30, 40};
  batch.counterId = nvtxCounterRegister(domain, &counter);
  batch.counters = values;
  batch.countersSize = sizeof(values);
  batch.timestamps = times;
  batch.timestampsSize = sizeof(times);
  nvtxCounterBatchSubmit(domain, &batch);
}

int main(void) {
  base = nvtxTimestampGet();
  printf("%lld\n", (long long)base);
  domain = nvtxDomainCreateA("clocks");
  named_clocks();
  tied_clocks();
  read_clocks();
  scopes_and_counters();
  return 0;
}
