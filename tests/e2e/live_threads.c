// SPDX-License-Identifier: Apache-2.0
// Threads that push ranges of ten levels and pop them, as fast as they can.
//   live_threads THREADS RANGES      prints the id of each thread and what it recorded
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEVELS 10

static long ranges;
static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t events[LEVELS];
static pthread_barrier_t together;

static void* work(void* id) {
  long done = 0;
  pthread_barrier_wait(&together);
  while (done < ranges) {
    for (int level = 0; level < LEVELS; ++level) {
      done += nvtxDomainRangePushEx(domain, &events[level]) == level;
    }
    for (int level = 0; level < LEVELS; ++level) nvtxDomainRangePop(domain);
  }
  *(long*)id = syscall(SYS_gettid);
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  int threads = atoi(arguments[1]);
  ranges = atol(arguments[2]);
  domain = nvtxDomainCreateA("threads");
  for (int level = 0; level < LEVELS; ++level) {
    char name[16];
    snprintf(name, sizeof(name), "level %d", level);
    events[level].version = NVTX_VERSION;
    events[level].size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    events[level].messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    events[level].message.registered = nvtxDomainRegisterStringA(domain, name);
  }
  pthread_t* running = calloc(threads, sizeof(*running));
  long* ids = calloc(threads, sizeof(*ids));
  pthread_barrier_init(&together, NULL, threads);
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, work, &ids[i]);
  for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
  for (int i = 0; i < threads; ++i) printf("%ld %ld\n", ids[i], ranges);
  return 0;
}
