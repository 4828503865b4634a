// SPDX-License-Identifier: Apache-2.0
// Pushes and pops without end, and counts each pair that returned in a page that outlives it.
//   live_victim LOG                    until it is killed
//   live_victim LOG abort|exit NS      another thread ends it so long after the first pair
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t* done;
static const char* end;
static long delay;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void* ender(void* unused) {
  while (*done == 0) continue;
  for (int64_t stop = now() + delay; now() < stop;) continue;
  if (strcmp(end, "abort") == 0) abort();
  _exit(0);
  return unused;
}

int main(int count, char** arguments) {
  int fd = count > 1 ? open(arguments[1], O_RDWR) : -1;
  void* page = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return 1;
  done = page;
  if (count > 3) {
    pthread_t thread;
    end = arguments[2];
    delay = atol(arguments[3]);
    pthread_create(&thread, NULL, ender, NULL);
  }
  for (;;) {
    nvtxRangePushA("victim");
    nvtxRangePop();
    ++*done;
  }
}
