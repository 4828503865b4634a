// SPDX-License-Identifier: Apache-2.0
// Threads that push and pop ranges with a prebuilt name, and what that takes.
//   live_ranges THREADS RANGES COLORED
// Prints nanoseconds of CPU an event; KB of the process's memory, and of that the part that is
// mapped from files; milliseconds that the first call took, and the KB it added.
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 256

static long ranges;
static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t event;

static double clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

// The sum of the lines of /proc/self/status that begin with one of two names, in KB.
static long status_kb(const char* first, const char* second) {
  char line[256];
  long sum = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof(line), file)) {
    if (strncmp(line, first, strlen(first)) && strncmp(line, second, strlen(second))) continue;
    sum += atol(strchr(line, ':') + 1);
  }
  if (file) fclose(file);
  return sum;
}

static void* work(void* result) {
  nvtxDomainRangePushEx(domain, &event);  // the thread's buffer is not what is asked about
  nvtxDomainRangePop(domain);
  double began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (long i = 0; i < ranges; ++i) {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  *(double*)result = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / (2.0 * ranges);
  return NULL;
}

static void prepare(int colored) {
  domain = nvtxDomainCreateA("bench");
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "step");
  if (colored) {
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xFF00FF00;
  }
  nvtxDomainMarkEx(domain, &event);
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  int threads = atoi(arguments[1]);
  ranges = atol(arguments[2]);
  if (threads < 1 || threads > MAX_THREADS) return 2;
  long before = status_kb("VmRSS:", "VmRSS:");
  double began = clock_ns(CLOCK_MONOTONIC);
  prepare(atoi(arguments[3]));
  double first = (clock_ns(CLOCK_MONOTONIC) - began) / 1e6;
  long added = status_kb("VmRSS:", "VmRSS:") - before;
  pthread_t running[MAX_THREADS];
  double results[MAX_THREADS];
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, work, &results[i]);
  double sum = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(running[i], NULL);
    sum += results[i];
  }
  printf("%.1f %ld %ld %.3f %ld\n", sum / threads, status_kb("VmRSS:", "VmRSS:"),
         status_kb("RssFile:", "RssShmem:"), first, added);
  return 0;
}
