// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nvtx_perfetto {

// What tells this start of the machine, and this machine, from others; empty when unknown.
std::string boot_id();
std::string host_name();

}  // namespace nvtx_perfetto
