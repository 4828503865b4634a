// SPDX-License-Identifier: Apache-2.0
#include "payload/schema_builder.h"

#include <nvtx3/nvToolsExtSemanticsCorrelation.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#include "check.h"
#include "schemas.h"

using namespace nvtx_perfetto;
using schemas::entry;
using schemas::Types;

namespace {

constexpr uint64_t kInt8 = NVTX_PAYLOAD_ENTRY_TYPE_INT8;
constexpr uint64_t kInt32 = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
constexpr uint64_t kInt64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
constexpr uint64_t kText = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
constexpr uint64_t kFixed = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
constexpr uint64_t kDynamic = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;

std::vector<std::string> names(const Schema& schema) {
  std::vector<std::string> all;
  for (const auto& each : schema.entries) all.push_back(each.name);
  return all;
}

BuildError error_of(const std::vector<schemas::Entry>& entries, uint64_t type = 1) {
  Types types;
  auto built = types.build(entries, 0, type);
  CHECK_EQ(built.schema == nullptr, built.error != BuildError::kNone);
  CHECK_EQ(built.problem.empty(), built.error == BuildError::kNone);
  return built.error;
}

}  // namespace

TEST("schema builder: entries align as in C, offsets that are given stand") {
  Types types;
  const Schema& schema = types.add({entry(kInt8, "a"), entry(kInt64, "b"), entry(kInt8, "c"),
                                    entry(kInt32, "d", 0, 0, 28), entry(kInt8, "e")});
  std::vector<int64_t> offsets;
  for (const auto& each : schema.entries) offsets.push_back(each.offset);
  CHECK((offsets == std::vector<int64_t>{0, 8, 16, 28, 32}));
  CHECK_EQ(schema.size, 40u);
}

TEST("schema builder: packing and a static size are obeyed where the mask says so") {
  std::vector<schemas::Entry> entries = {entry(kInt8, "a"), entry(kInt64, "b")};
  nvtxPayloadSchemaAttr_t given = {};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.entries = entries.data();
  given.numEntries = 2;
  given.packAlign = 1;
  given.payloadStaticSize = 100;
  Types types;
  CHECK_EQ(build_schema(given, types).schema->size, 16u);
  given.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
  CHECK_EQ(build_schema(given, types).schema->size, 9u);
  given.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  CHECK_EQ(build_schema(given, types).schema->size, 100u);
  given.payloadStaticSize = 8;
  CHECK(build_schema(given, types).error == BuildError::kInvalid);
}

TEST("schema builder: names stay distinct after the engine's rewriting") {
  Types types;
  const Schema& inner = types.add({entry(kInt8, "b"), entry(kInt8, "b_2")});
  CHECK((names(types.add({entry(kInt8, "a.b"), entry(kInt8, "a_b"), entry(kInt8, "a[b"),
                          entry(kInt8, nullptr), entry(kInt8, "")})) ==
         std::vector<std::string>{"a.b", "a_b_2", "a[b_3", "field3", "field4"}));
  CHECK((names(types.add({entry(inner.id, "a"), entry(kInt8, "a_b"), entry(kInt8, "a_c")})) ==
         std::vector<std::string>{"a", "a_b_3", "a_c"}));
  CHECK((names(types.add({entry(kInt8, "v_0_"), entry(kInt8, "v", kFixed, 2)})) ==
         std::vector<std::string>{"v_0_", "v_2"}));
  CHECK((names(types.add({entry(kInt8, "v_size"), entry(kInt8, "v", kFixed, 65)})) ==
         std::vector<std::string>{"v_size", "v_2"}));
  CHECK((names(types.add({entry(kInt8, "input"), entry(kInt8, "input_bytes")})) ==
         std::vector<std::string>{"input", "input_bytes"}));
}

TEST("schema builder: roles, flows and hidden entries find their places") {
  Types types;
  const Schema& schema = types.add(
      {entry(kInt64, "t0", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
       entry(kInt64, "t1", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
       entry(kText, "m", NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | kFixed, 8),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "c"), entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "k"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "nvtx.flow_out"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "nvtx.flow_in", kFixed, 2),
       entry(kInt8, "secret", NVTX_PAYLOAD_ENTRY_FLAG_HIDE), entry(kInt8, "shown")},
      NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP);
  const EventPlan& plan = schema.plan;
  CHECK(plan.kind == EventKind::kPushPop);
  CHECK_EQ(plan.begin, 0);
  CHECK_EQ(plan.end, 1);
  CHECK_EQ(plan.message, 2);
  CHECK_EQ(plan.color, 3);
  CHECK_EQ(plan.category, 4);
  CHECK((plan.flows_out == std::vector<int>{5} && plan.flows_in == std::vector<int>{6}));
  CHECK_EQ(plan.shown, 1);
}

TEST("schema builder: semantics are read, through links that are unknown, but not round a loop") {
  nvtxSemanticsCounter_t counter = {};
  counter.header = {sizeof(counter), NVTX_SEMANTIC_ID_COUNTERS_V1, 1, nullptr};
  counter.flags = NVTX_COUNTER_FLAG_LIMIT_MIN | NVTX_COUNTER_FLAG_LIMIT_MAX |
                  NVTX_COUNTER_FLAG_VALUETYPE_DELTA | NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR;
  counter.unit = "bytes";
  counter.unitScaleNumerator = 1024;
  counter.limitType = NVTX_COUNTER_LIMIT_I64;
  counter.min.i64 = -1;
  counter.max.i64 = 100;
  nvtxSemanticsHeader_t unknown = {sizeof(unknown), 999, 7, &counter.header};
  Semantics found = read_semantics(&unknown);
  CHECK(found.counter.given && found.counter.delta == DeltaKind::kDelta);
  CHECK_EQ(found.counter.unit, "bytes");
  CHECK_EQ(found.counter.numerator, 1024u);
  CHECK_EQ(found.counter.denominator, 1u);
  CHECK_EQ(found.counter.limits, "min -1, max 100");
  CHECK_EQ(found.counter.interpolation, "linear");
  counter.header.structSize = 4;
  CHECK(!read_semantics(&unknown).counter.given);
  unknown.next = &unknown;
  CHECK(!read_semantics(&unknown).counter.given);
}

TEST("schema builder: what cannot be laid out is refused with its reason") {
  CHECK(error_of({entry(0, "none")}) == BuildError::kInvalid);
  CHECK(error_of({entry(9999, "number")}) == BuildError::kInvalid);
  CHECK(error_of({entry(uint64_t{1} << 30, "not registered")}) == BuildError::kInvalid);
  CHECK(error_of({entry(kInt8, "v", kFixed, uint64_t{1} << 40)}) == BuildError::kInvalid);
  CHECK(error_of({entry(kInt8, "a"), entry(kInt8, "b", 0, 0, uint64_t{1} << 40)}) ==
        BuildError::kInvalid);
  CHECK(error_of({entry(kText, "pointer")}) == BuildError::kNotSupported);
  CHECK(error_of({entry(kInt8, "p", NVTX_PAYLOAD_ENTRY_FLAG_POINTER)}) ==
        BuildError::kNotSupported);
  constexpr uint64_t kLength = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
  CHECK(error_of({entry(kInt8, "n"), entry(kInt8, "v", kLength, 0)}) == BuildError::kInvalid);
  CHECK(error_of({entry(kInt8, "v", kLength, 0)}, kDynamic) == BuildError::kInvalid);
  CHECK(error_of({entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "n"), entry(kInt8, "v", kLength, 0)},
                 kDynamic) == BuildError::kInvalid);
  CHECK(error_of({entry(kInt8, "a")}, 0) == BuildError::kInvalid);
  CHECK(error_of({entry(kInt8, "a")}, 77) == BuildError::kInvalid);
  CHECK(error_of({entry(kInt8, "a")}, NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR) ==
        BuildError::kNotSupported);
}

TEST("schema builder: dynamic schemas nest in dynamic ones only, and not in arrays") {
  Types types;
  const Schema& dynamic =
      types.add({entry(kText, "s", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED)}, 0, kDynamic);
  CHECK(!dynamic.fixed);
  CHECK(types.build({entry(dynamic.id, "d")}).error == BuildError::kInvalid);
  CHECK(types.build({entry(dynamic.id, "d")}, 0, kDynamic).error == BuildError::kNone);
  CHECK(types.build({entry(dynamic.id, "d", kFixed, 2)}, 0, kDynamic).error ==
        BuildError::kNotSupported);
}

TEST("schema builder: enums need a size of whole integers") {
  nvtxPayloadEnum_t label = {"a", 1, 0};
  nvtxPayloadEnumAttr_t given = {};
  given.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  given.entries = &label;
  given.numEntries = 1;
  for (size_t size : {1u, 2u, 4u, 8u}) {
    given.sizeOfEnum = size;
    CHECK(build_enum(given).type != nullptr);
  }
  for (size_t size : {0u, 3u, 16u}) {
    given.sizeOfEnum = size;
    CHECK(!build_enum(given).problem.empty());
  }
}

TEST("schema builder: nesting has an end, and what it allows can be decoded") {
  Types types;
  uint64_t id = types.add({entry(kInt8, "x")}).id;
  for (int depth = 2; depth <= 60; ++depth) id = types.add({entry(id, "x")}).id;
  CHECK(types.build({entry(id, "x")}).error == BuildError::kInvalid);
  CHECK(types.build({entry(kInt8, "x", kFixed, 2)}).error == BuildError::kNone);
}
