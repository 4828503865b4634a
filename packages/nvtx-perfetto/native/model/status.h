// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nvtx_perfetto {

// kDropped: the call was good, but its event cannot be in the file; it was counted, and the
// session's end will say so.
enum class Status { kOk, kDropped, kFailed, kInvalid, kNotSupported };

// Remembers, for the calling thread, why a call did not succeed, and returns the status.
Status fail(Status status, std::string why);
// The last reason in this thread; empty when there was none.
const std::string& last_error();

}  // namespace nvtx_perfetto
