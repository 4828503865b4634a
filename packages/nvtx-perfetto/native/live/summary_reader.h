// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nvtx_perfetto::live {

// Adds what a summary says; does nothing with a packet that is none. A summary stands in
// one packet with all its names.
void read_summary(std::string_view packet, std::map<std::string, uint64_t>& counts);

}  // namespace nvtx_perfetto::live
