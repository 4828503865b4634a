/* SPDX-License-Identifier: Apache-2.0
 * A thread that only waits for its next tick: what any sampler costs a machine at the least. */
#include <stdint.h>
#include <time.h>

enum { kSecond = 1000000000 };

static int64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * kSecond + time.tv_nsec;
}

/* Wait for `count` ticks, note how late each came, and return the CPU time of it, all in ns. */
int64_t wait_for_ticks(int64_t interval, int64_t count, int64_t* late) {
  int64_t began = now(CLOCK_THREAD_CPUTIME_ID);
  int64_t due = now(CLOCK_MONOTONIC);
  for (int64_t tick = 0; tick < count; ++tick) {
    due += interval;
    struct timespec until = {due / kSecond, due % kSecond};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
    late[tick] = now(CLOCK_MONOTONIC) - due;
  }
  return now(CLOCK_THREAD_CPUTIME_ID) - began;
}
