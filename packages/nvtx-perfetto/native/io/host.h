// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nvtx_perfetto {

// What tells this start of the machine, and this machine, from others; empty when unknown.
std::string boot_id();
std::string host_name();

// Whether the fields of a file's head, filled with the two as far as they fit, name this machine.
// A lock taken on another one may not be seen here. This one after a restart, on the other hand,
// holds no process of before.
bool is_this_machine(std::string_view boot_field, std::string_view host_field);

}  // namespace nvtx_perfetto
