// SPDX-License-Identifier: Apache-2.0
// Submits events that bring their times along, in every form; their rows are in the test beside
// it. Prints the time that all others are counted from.
#include "live_deferred.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUSHPOP NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP
#define SIZE sizeof(Row)

static nvtxDomainHandle_t gpu;
static int64_t base;

static const Entry kComplete[] = {
    {BEGIN, I64, "t0", NULL, 0, 0, NULL, NULL},
    {END, I64, "t1", NULL, 0, 8, NULL, NULL},
    {NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "id", NULL, 0, 16, NULL, NULL},
    {MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 16, 24, NULL, NULL},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "value", NULL, 0, 40, NULL, NULL},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category", NULL, 0, 44, NULL, NULL}};

static Row row(int64_t begin, int64_t end, const char* text, int32_t value) {
  Row made = {base + begin, base + end, 7, "", value, 3};
  snprintf(made.text, sizeof(made.text), "%s", text);
  return made;
}

// Rows of later batches belong around, between and across those of earlier ones.
static void complete_ranges(void) {
  nvtxDomainNameCategoryA(gpu, 3, "third");
  uint64_t nested = schema(gpu, PUSHPOP, kComplete, COUNT(kComplete), 0);
  Row first[] = {row(100, 200, "inner", 1), row(400, 500, "late", 2)};
  submit(gpu, nested, first, sizeof(first), NVTX_SCOPE_NONE, NVTX_BATCH_FLAG_TIME_SORTED);
  Row second[] = {row(0, 1000, "outer", 3), row(50, 300, "middle", 4), row(900, 1200, "across", 5)};
  submit(gpu, nested, second, sizeof(second), NVTX_SCOPE_NONE, NVTX_BATCH_FLAG_TIME_SORTED);
  Row unsorted[] = {row(80, 90, "b", 6), row(60, 70, "a", 7)};
  submit(gpu, nested, unsorted, sizeof(unsorted), NVTX_SCOPE_NONE, NVTX_BATCH_FLAG_TIME_SORTED);
  Row backwards[] = {row(20, 10, "backwards", 8)};
  submit(gpu, nested, backwards, sizeof(backwards), NVTX_SCOPE_NONE, NVTX_BATCH_FLAG_UNSORTED);
  uint64_t apart =
      schema(gpu, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND, kComplete, COUNT(kComplete), SIZE);
  Row crossing[] = {row(0, 20, "first", 9), row(10, 30, "second", 10)};
  submit(gpu, apart, crossing, sizeof(crossing), scope(gpu, "node[1]/gpu 0"), 0);
  Row here = row(5, 6, "here", 11);
  submit(gpu, nested, &here, sizeof(here), NVTX_SCOPE_CURRENT_SW_THREAD, 0);
  submit(gpu, nested, &here, sizeof(here), NVTX_SCOPE_CURRENT_SW_PROCESS, 0);
}

// A push and a pop, a start and an end, in whatever order they are submitted.
static void half_ranges(void) {
  Entry half[] = {kComplete[0], kComplete[3], kComplete[4]};
  Entry by_id[] = {{BEGIN, I64, "t", NULL, 0, 0, NULL, NULL},
                   {0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, "id", NULL, 0, 16, NULL, NULL},
                   kComplete[3],
                   kComplete[4]};
  half[1].offset = kComplete[3].offset;
  uint64_t layouts[] = {schema(gpu, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP, half, 1, SIZE),
                        schema(gpu, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH, half, 3, SIZE),
                        schema(gpu, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END, by_id, 2, SIZE),
                        schema(gpu, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START, by_id, 4, SIZE)};
  uint64_t halves = scope(gpu, "halves");
  Row rows[] = {row(40, 0, "", 0), row(10, 0, "pushed", 1), row(60, 0, "", 0),
                row(20, 0, "started", 2)};
  for (int i = 0; i < 4; ++i) submit(gpu, layouts[i], &rows[i], SIZE, halves, 0);
  Row unmatched = row(70, 0, "", 0);
  submit(gpu, layouts[0], &unmatched, SIZE, halves, 0);
}

// One event of two payloads; the thread that it names need not be the one that submits it.
static void single_events(void) {
  Entry time[] = {{MARK, I64, "t", NULL, 0, 0, NULL, NULL},
                  {0, NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32, "pid", NULL, 0, 8, NULL, NULL},
                  {0, NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32, "tid", NULL, 0, 12, NULL, NULL}};
  Entry text[] = {{MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 16, 0, NULL, NULL},
                  {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "value", NULL, 0, 16, NULL, NULL}};
  uint64_t when = schema(gpu, NVTX_PAYLOAD_SCHEMA_FLAG_MARK, time, 3, 16);
  uint64_t what = schema(gpu, NVTX_PAYLOAD_SCHEMA_FLAG_NONE, text, 2, 20);
  struct {
    int64_t time;
    uint32_t pid, tid;
  } places[] = {{base + 7, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)},
                {base + 8, 4242, 4243}};
  struct {
    char text[16];
    int32_t value;
  } said[] = {{"own thread", 1}, {"other process", 2}};
  for (int i = 0; i < 2; ++i) {
    nvtxPayloadData_t data[] = {{when, 16, &places[i]}, {what, 20, &said[i]}};
    nvtxEventSubmit(gpu, data, 2);
  }
}

static void hostile(void) {
  nvtxEventBatchSubmit(gpu, NULL);
  nvtxEventSubmit(gpu, NULL, 3);
  Row any = row(0, 1, "any", 0);
  submit(gpu, 1234567, &any, SIZE, NVTX_SCOPE_NONE, 0);  // no such schema
  Entry timeless[] = {kComplete[4]};
  submit(gpu, schema(gpu, 0, timeless, 1, SIZE), &any, SIZE, NVTX_SCOPE_NONE, 0);
}

int main(void) {
  base = nvtxTimestampGet();
  printf("%lld %d\n", (long long)base, (int)getpid());
  gpu = nvtxDomainCreateA("gpu");
  nvtxMarkA("live");
  complete_ranges();
  half_ranges();
  single_events();
  hostile();
#ifdef KILLED_AT_THE_END
  fflush(stdout);
  kill(getpid(), SIGKILL);
#endif
  return 0;
}
