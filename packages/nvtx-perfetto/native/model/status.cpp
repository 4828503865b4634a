// SPDX-License-Identifier: Apache-2.0
#include "model/status.h"

namespace nvtx_perfetto {
namespace {

// Sessions that end at exit still say why they failed, when the main thread's objects are
// gone already.
thread_local bool gone = false;

struct Reason {
  std::string text;
  ~Reason() { gone = true; }
};

std::string& reason() {
  thread_local Reason held;
  return held.text;
}

}  // namespace

Status fail(Status status, std::string why) {
  if (!gone) reason() = std::move(why);
  return status;
}

const std::string& last_error() {
  static const auto& nothing = *new std::string();
  return gone ? nothing : reason();
}

}  // namespace nvtx_perfetto
