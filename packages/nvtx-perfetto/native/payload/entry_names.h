// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "payload/schema.h"

namespace nvtx_perfetto {

// Renames entries so that the keys of all arguments a schema makes stay distinct: the engine
// turns `.`, `[` and `]` into `_`, after which `a.b`, a member `b` of `a`, and `a_b` are one.
// The later entry of two gets `_2`, `_3`, ... behind its name.
void name_entries(Schema& schema);

}  // namespace nvtx_perfetto
