// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nvtx_perfetto {

enum class Status { kOk, kFailed, kInvalid, kNotSupported };

// Remembers, for the calling thread, why a call did not succeed, and returns the status.
Status fail(Status status, std::string why);
// The last reason in this thread; empty when there was none.
const std::string& last_error();

}  // namespace nvtx_perfetto
