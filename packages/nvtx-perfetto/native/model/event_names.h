// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "payload/decoder.h"
#include "payload/schema.h"

namespace nvtx_perfetto {

// What the events of one NVTX domain refer to by number: texts, categories, schemas, the
// domain itself.
class EventNames : public StringLookup {
 public:
  // The domain's, as shown: commas would split the engine's category list.
  virtual const std::string& shown_name() const = 0;
  // `category N` while it has no name.
  virtual std::string category_name(uint32_t category) const = 0;
  // A key that no other domain's category 0 has; that of category N lies N above.
  virtual uint64_t first_category_key() const = 0;
  // The schema that packed rows call by a number; null for a number that is none.
  virtual const Schema* numbered_schema(uint32_t number) const = 0;
};

}  // namespace nvtx_perfetto
