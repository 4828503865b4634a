// SPDX-License-Identifier: Apache-2.0
// Threads that push and pop ranges with a prebuilt name, and the CPU time that takes.
//   live_ranges THREADS RANGES COLORED      prints nanoseconds of CPU an event, and the RSS in KB
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define MAX_THREADS 256

static long ranges;
static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t event;

static double cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

static void* work(void* result) {
  nvtxDomainRangePushEx(domain, &event);  // the thread's buffer is not what is asked about
  nvtxDomainRangePop(domain);
  double began = cpu_time();
  for (long i = 0; i < ranges; ++i) {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  *(double*)result = (cpu_time() - began) / (2.0 * ranges);
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  int threads = atoi(arguments[1]);
  ranges = atol(arguments[2]);
  if (threads < 1 || threads > MAX_THREADS) return 2;
  domain = nvtxDomainCreateA("bench");
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "step");
  if (atoi(arguments[3])) {
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xFF00FF00;
  }
  pthread_t running[MAX_THREADS];
  double results[MAX_THREADS];
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, work, &results[i]);
  double sum = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(running[i], NULL);
    sum += results[i];
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%.1f %ld\n", sum / threads, usage.ru_maxrss);
  return 0;
}
