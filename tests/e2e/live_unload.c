// SPDX-License-Identifier: Apache-2.0
// Has no NVTX of its own: libraries that have are opened, used by several threads, and closed.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define ROUNDS 20
#define THREADS 4

static void (*mark_here)(const char*);

static void* use(void* path) {
  mark_here(path);
  return NULL;
}

static int one_round(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  mark_here = library ? (void (*)(const char*))dlsym(library, "mark_here") : NULL;
  if (!mark_here) return 1;
  pthread_t running[THREADS];
  for (int i = 0; i < THREADS; ++i) pthread_create(&running[i], NULL, use, (void*)path);
  for (int i = 0; i < THREADS; ++i) pthread_join(running[i], NULL);
  return dlclose(library);
}

int main(int count, char** arguments) {
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 1; i < count; ++i) {
      if (one_round(arguments[i]) != 0) return 1;
    }
  }
  for (int i = 1; i < count; ++i) {
    // Otherwise the rounds would not have shown what they are for.
    if (dlopen(arguments[i], RTLD_NOW | RTLD_NOLOAD)) return 2;
  }
  return 0;
}
