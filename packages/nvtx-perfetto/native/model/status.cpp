// SPDX-License-Identifier: Apache-2.0
#include "model/status.h"

namespace nvtx_perfetto {
namespace {

std::string& reason() {
  thread_local std::string text;
  return text;
}

}  // namespace

Status fail(Status status, std::string why) {
  reason() = std::move(why);
  return status;
}

const std::string& last_error() { return reason(); }

}  // namespace nvtx_perfetto
