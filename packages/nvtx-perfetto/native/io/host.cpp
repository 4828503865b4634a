// SPDX-License-Identifier: Apache-2.0
#include "io/host.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace nvtx_perfetto {

std::string boot_id() {
  char text[64] = {};
  int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  ssize_t size = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  if (size <= 0) return {};
  return std::string(text, strcspn(text, "\n"));
}

std::string host_name() {
  char text[72] = {};
  return ::gethostname(text, sizeof(text) - 1) == 0 ? std::string(text) : std::string();
}

}  // namespace nvtx_perfetto
