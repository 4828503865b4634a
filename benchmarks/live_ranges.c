// SPDX-License-Identifier: Apache-2.0
// Threads that push and pop ranges with a prebuilt name, and what that takes.
//   live_ranges THREADS RANGES COLORED
// Prints nanoseconds of CPU an event, of these the system's, and page faults a thousand events; KB
// of the process's memory, and of that the part that is mapped from files; milliseconds that the
// first call took, and the KB it added.
#define _GNU_SOURCE  // RUSAGE_THREAD
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

// What a thread took: the sums of all threads are divided by their events.
typedef struct {
  double cpu, system, faults;
} Cost;

// The system's part is sampled by the kernel's ticks, so it is right in the mean alone.
static Cost cost_now(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  Cost cost = {clock_ns(CLOCK_THREAD_CPUTIME_ID),
               usage.ru_stime.tv_sec * 1e9 + usage.ru_stime.tv_usec * 1e3, usage.ru_minflt};
  return cost;
}

static void* work(void* result) {
  nvtxDomainRangePushEx(domain, &event);  // the thread's buffer is not what is asked about
  nvtxDomainRangePop(domain);
  Cost before = cost_now();
  for (long i = 0; i < ranges; ++i) {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  Cost after = cost_now();
  Cost own = {after.cpu - before.cpu, after.system - before.system, after.faults - before.faults};
  *(Cost*)result = own;
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
  Cost results[MAX_THREADS];
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, work, &results[i]);
  Cost sum = {0, 0, 0};
  for (int i = 0; i < threads; ++i) {
    pthread_join(running[i], NULL);
    sum.cpu += results[i].cpu;
    sum.system += results[i].system;
    sum.faults += results[i].faults;
  }
  double events = 2.0 * ranges * threads;
  printf("%.1f %.1f %.2f %ld %ld %.3f %ld\n", sum.cpu / events, sum.system / events,
         1e3 * sum.faults / events, status_kb("VmRSS:", "VmRSS:"),
         status_kb("RssFile:", "RssShmem:"), first, added);
  return 0;
}
