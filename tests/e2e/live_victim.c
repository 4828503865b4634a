// SPDX-License-Identifier: Apache-2.0
// Pushes and pops without end, and counts each pair that returned in a page that outlives it.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int count, char** arguments) {
  int fd = count > 1 ? open(arguments[1], O_RDWR) : -1;
  void* page = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return 1;
  volatile uint64_t* done = page;
  for (;;) {
    nvtxRangePushA("victim");
    nvtxRangePop();
    ++*done;
  }
}
