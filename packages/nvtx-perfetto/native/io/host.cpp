// SPDX-License-Identifier: Apache-2.0
#include "io/host.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace nvtx_perfetto {
namespace {

bool holds(std::string_view field, const std::string& text) {
  return field.substr(0, field.find('\0')) == text.substr(0, field.size() - 1);
}

}  // namespace

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

bool is_this_machine(std::string_view boot_field, std::string_view host_field) {
  return holds(boot_field, boot_id()) || holds(host_field, host_name());
}

}  // namespace nvtx_perfetto
