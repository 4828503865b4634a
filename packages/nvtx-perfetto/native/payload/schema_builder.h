// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <memory>
#include <string>

#include "payload/schema.h"

namespace nvtx_perfetto {

// Finds what a schema refers to, in the domain it is registered in.
class TypeLookup {
 public:
  virtual ~TypeLookup() = default;
  virtual const Schema* find_schema(uint64_t id) const = 0;
  virtual const EnumType* find_enum(uint64_t id) const = 0;
};

enum class BuildError { kNone, kInvalid, kNotSupported };

struct BuiltSchema {
  std::unique_ptr<Schema> schema;
  BuildError error = BuildError::kNone;
  std::string problem;  // what is wrong, naming the entry
};

// Takes over a schema as NVTX describes it, and lays its entries out. Reads the fields that
// `fieldMask` names and no others: nvtx leaves the rest as garbage.
BuiltSchema build_schema(const nvtxPayloadSchemaAttr_t& attributes, const TypeLookup& types);

// A schema of one nameless entry for payloads of a predefined type: as many elements as
// the payload holds. Null for numbers that are no type.
std::unique_ptr<Schema> predefined_schema(uint64_t type);

struct BuiltEnum {
  std::unique_ptr<EnumType> type;
  std::string problem;
};
BuiltEnum build_enum(const nvtxPayloadEnumAttr_t& attributes);

// What a chain of semantics says; links of unknown kinds or versions are passed over.
struct Semantics {
  CounterSemantics counter;
  CorrelationSemantics correlation;
  uint64_t time_domain = 0;
};
Semantics read_semantics(const nvtxSemanticsHeader_t* chain);

// A counter's description with its limits and interpolation, which Perfetto has no fields for.
std::string describe_counter_semantics(std::string text, const CounterSemantics& semantics);

}  // namespace nvtx_perfetto
