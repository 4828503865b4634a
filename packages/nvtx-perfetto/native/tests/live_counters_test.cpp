// SPDX-License-Identifier: Apache-2.0
// Counters whose samples hold more than one plain number.
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

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

constexpr uint64_t kInt64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;

// A counter whose samples are differences.
uint32_t define_delta(live::Registry& registry, const char* name) {
  nvtxSemanticsCounter_t delta = {};
  delta.header = {sizeof(delta), NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION,
                  nullptr};
  delta.flags = NVTX_COUNTER_FLAG_VALUETYPE_DELTA;
  return define_counter(registry, kInt64, name, &delta.header);
}

void sample(Recording& recording, uint32_t counter, int64_t value) {
  recording.writer->sample(live::kCounterInt, kDomain, counter, static_cast<uint64_t>(value));
}
void sample_none(Recording& recording, uint32_t counter, uint64_t reason) {
  recording.writer->sample(live::kCounterNoValue, kDomain, counter, reason);
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

TEST("live counters: a unit's scale is told as its multiplier, and other scales are applied") {
  Recording recording;
  nvtxSemanticsCounter_t scaled = {};
  scaled.header = {sizeof(scaled), NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION,
                   nullptr};
  scaled.unit = "bytes";
  scaled.unitScaleNumerator = 1024;
  uint32_t whole = define_counter(recording.registry, kInt64, "whole", &scaled.header);
  scaled.unitScaleDenominator = 2048;
  uint32_t half = define_counter(recording.registry, kInt64, "half", &scaled.header);
  sample(recording, whole, 3);
  sample(recording, half, 3);
  packets::Trace trace = recording.finish();
  const packets::Track& told = trace.tracks.at(trace.on("whole").at(0).track);
  CHECK_EQ(told.unit, "bytes");
  CHECK_EQ(told.multiplier, uint64_t{1024});
  CHECK(values(trace, "whole") == Series{3});
  CHECK(values(trace, "half") == Series{1.5});
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

TEST("live counters: sums go on from drain to drain, and behind a death") {
  check::folder();  // the child's too
  pid_t child = ::fork();
  if (child == 0) {
    Recording recording;
    uint32_t counter = define_delta(recording.registry, "sum");
    for (int64_t value : {5, -2, 10}) {
      sample(recording, counter, value);
      recording.session->flush();
    }
    sample(recording, counter, 100);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  std::string live;
  std::string part;
  for (const auto& entry : std::filesystem::directory_iterator(check::folder())) {
    if (entry.path().extension() == ".live") live = entry.path();
    if (entry.path().extension() == ".part") part = entry.path();
  }
  std::string problem;
  CHECK_EQ(live::recover(live, problem), live::Recovered::kDrained);
  packets::Trace trace(content(part));
  CHECK(values(trace, "sum") == (Series{5, 3, 13, 113}));
  CHECK_EQ(summary(trace, "counter_samples"), "4");
}

TEST("live counters: what a sample without a value leaves of a sum and of a level") {
  Recording recording;
  uint32_t sum = define_delta(recording.registry, "sum");
  uint32_t level = define_counter(recording.registry, kInt64, "level");
  sample_none(recording, level, NVTX_COUNTER_SAMPLE_UNCHANGED);  // of nothing: not written
  for (uint32_t counter : {sum, level}) {
    sample(recording, counter, 5);
    for (uint64_t reason : {NVTX_COUNTER_SAMPLE_UNAVAILABLE, NVTX_COUNTER_SAMPLE_UNCHANGED,
                            NVTX_COUNTER_SAMPLE_ZERO}) {
      sample_none(recording, counter, reason);
    }
    sample(recording, counter, 2);
  }
  packets::Trace trace = recording.finish();
  Series found = values(trace, "sum");
  CHECK(std::isnan(found.at(1)));
  found.erase(found.begin() + 1);
  CHECK(found == (Series{5, 5, 5, 7}));
  found = values(trace, "level");
  CHECK(std::isnan(found.at(1)));
  found.erase(found.begin() + 1);
  CHECK(found == (Series{5, 5, 0, 2}));
}

TEST("live counters: samples that bring their times along are in their order") {
  Recording recording;
  uint32_t counter = define_counter(recording.registry, kInt64, "c");
  constexpr size_t kSamples = 20'000;  // more than a record holds
  std::vector<int64_t> numbers(kSamples);
  std::vector<int64_t> times(kSamples);
  Series expected(kSamples);
  for (size_t i = 0; i < kSamples; ++i) {
    numbers[i] = static_cast<int64_t>(i);
    times[i] = static_cast<int64_t>(kSamples - i);
    expected[i] = static_cast<double>(kSamples - 1 - i);
  }
  live::CounterBatchHead head{0, kSamples, 1, sizeof(int64_t)};
  recording.writer->batch({live::kCounterBatch, kDomain, counter, numbers.data(), sizeof(int64_t),
                           kSamples, times.data()},
                          &head, sizeof(head));
  packets::Trace trace = recording.finish();
  CHECK(values(trace, "c") == expected);
  CHECK_EQ(trace.on("c").front().time, 1);
  CHECK_EQ(trace.on("c").back().time, static_cast<int64_t>(kSamples));
}
