// SPDX-License-Identifier: Apache-2.0
// Counters whose samples hold more than one plain number.
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <cstring>

#include "live/attribute_copy.h"
#include "live_recording.h"

using namespace recording;

namespace {

constexpr uint32_t kDomain = 0;
using Series = std::vector<double>;

nvtxPayloadSchemaEntry_t entry(uint64_t type, const char* name, uint64_t offset) {
  nvtxPayloadSchemaEntry_t made = {};
  made.type = type;
  made.name = name;
  made.offset = offset;
  return made;
}

uint32_t define_counter(live::Registry& registry, uint64_t schema, const char* name,
                        const nvtxSemanticsHeader_t* semantics = nullptr) {
  nvtxCounterAttr_t counter = {};
  counter.structSize = sizeof(counter);
  counter.schemaId = schema;
  counter.name = name;
  counter.semantics = semantics;
  nvtx_perfetto::ByteBuffer body;
  live::pack_counter(body, counter);
  return static_cast<uint32_t>(registry.define(live::DefinitionKind::kCounter, kDomain, 0,
                                               body.view(), NVTX_COUNTER_ID_DYNAMIC_START));
}

Series values(const packets::Trace& trace, const std::string& track) {
  Series found;
  for (const packets::Event& event : trace.on(track)) found.push_back(event.value);
  return found;
}

}  // namespace

TEST("live counters: groups inside a group and arrays have a track a number, named by their path") {
  struct Sample {
    int16_t list[2];
    int32_t x;
    float y;
  };
  Recording recording;
  nvtxPayloadSchemaEntry_t inner[] = {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x", 0),
                                      entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32, "y", 4)};
  uint64_t pair = define_schema(recording.registry, kDomain, 0, inner, 2, 8);
  nvtxPayloadSchemaEntry_t outer[] = {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "list", 0),
                                      entry(pair, "in", 4)};
  outer[0].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  outer[0].arrayOrUnionDetail = 2;
  uint64_t group = define_schema(recording.registry, kDomain, 0, outer, 2, sizeof(Sample));
  uint32_t counter = define_counter(recording.registry, group, "g");
  Sample sample = {{1, -2}, -5, 0.5f};
  recording.writer->sample_bytes(kDomain, counter, &sample, sizeof(sample));
  packets::Trace trace = recording.finish();
  CHECK(values(trace, "g.list[0]") == Series{1});
  CHECK(values(trace, "g.list[1]") == Series{-2});
  CHECK(values(trace, "g.in.x") == Series{-5});
  CHECK(values(trace, "g.in.y") == Series{0.5});
}

TEST("live counters: normalized numbers are shares of their type's greatest") {
  Recording recording;
  nvtxSemanticsCounter_t share = {};
  share.header = {sizeof(share), NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION,
                  nullptr};
  share.flags = NVTX_COUNTER_FLAG_NORMALIZE;
  uint32_t counter =
      define_counter(recording.registry, NVTX_PAYLOAD_ENTRY_TYPE_INT8, "s", &share.header);
  for (int8_t value : {int8_t{127}, int8_t{0}, int8_t{-128}}) {
    recording.writer->sample_bytes(kDomain, counter, &value, sizeof(value));
  }
  CHECK(values(recording.finish(), "s") == (Series{1, 0, -1}));
}

TEST("live counters: 128-bit numbers are doubles, and rounded ones are counted") {
  Recording recording;
  uint32_t counter = define_counter(recording.registry, NVTX_PAYLOAD_ENTRY_TYPE_INT128, "w");
  __int128 large = static_cast<__int128>(1) << 100;
  for (__int128 value : {-large, large + 1}) {
    recording.writer->sample_bytes(kDomain, counter, &value, sizeof(value));
  }
  packets::Trace trace = recording.finish();
  CHECK(values(trace, "w") == (Series{-0x1p100, 0x1p100}));
  CHECK_EQ(summary(trace, "rounded_counters"), "1");
}
