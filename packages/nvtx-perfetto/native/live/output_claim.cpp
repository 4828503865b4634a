// SPDX-License-Identifier: Apache-2.0
#include "live/output_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace nvtx_perfetto::live {

OutputClaim::Result OutputClaim::take(const std::string& path, bool overwrite) {
  path_ = path;
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return Result::kFailed;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return Result::kTaken;
  }
  struct stat found;
  // An empty file is what a process left that claimed the output and died.
  bool finished = ::fstat(fd, &found) != 0 || found.st_size > 0;
  if (finished && !overwrite) {
    ::close(fd);
    return Result::kExists;
  }
  fd_ = fd;
  return Result::kMine;
}

bool OutputClaim::fulfil(const std::string& part) {
  bool good = std::rename(part.c_str(), path_.c_str()) == 0;
  give_up();
  return good;
}

void OutputClaim::give_up() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace nvtx_perfetto::live
