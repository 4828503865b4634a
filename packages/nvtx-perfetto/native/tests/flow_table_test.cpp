// SPDX-License-Identifier: Apache-2.0
#include "model/flow_table.h"

#include <nvtx3/nvToolsExtSemanticsCorrelation.h>

#include "stage.h"

using namespace nvtx_perfetto;
using schemas::Bytes;
using schemas::entry;
using stage::Stage;

namespace {

constexpr uint64_t kUint64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;

struct Fixture {
  Stage stage;
  schemas::Types types;
  const Schema& out = types.add({entry(kUint64, "nvtx.flow_out")});
  const Schema& in = types.add({entry(kUint64, "nvtx.flow_in")});
  const Schema& outs =
      types.add({entry(kUint64, "nvtx.flow_out", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 3)});

  uint64_t add(const Schema& schema, const Bytes& bytes, int64_t time, uint32_t stream = 0) {
    Row row = bytes.row(schema);
    return stage.flows.add(&row, 1, {time, stream, time});
  }
  // The edges of an event, and whether all of its fields had one.
  std::pair<std::vector<uint64_t>, bool> edges(const Schema& schema, const Bytes& bytes,
                                               uint64_t first) {
    Row row = bytes.row(schema);
    std::vector<uint64_t> found;
    bool all = stage.flows.each_edge(&row, 1, first, [&](uint64_t id) { found.push_back(id); });
    return {found, all};
  }
};

Bytes ids(std::initializer_list<uint64_t> values) {
  Bytes bytes;
  for (uint64_t value : values) bytes.add(value);
  return bytes;
}

}  // namespace

TEST("flow table: an out and the next in of one id share an edge of their own") {
  Fixture f;
  uint64_t a = f.add(f.out, ids({9}), 1);
  uint64_t b = f.add(f.in, ids({9}), 2);
  uint64_t c = f.add(f.out, ids({9}), 3);
  uint64_t d = f.add(f.in, ids({9}), 4);
  CHECK(f.stage.flows.resolve());
  auto first = f.edges(f.out, ids({9}), a);
  CHECK(first.second && first.first.size() == 1);
  CHECK(f.edges(f.in, ids({9}), b) == first);
  auto second = f.edges(f.out, ids({9}), c);
  CHECK(f.edges(f.in, ids({9}), d) == second);
  CHECK(first.first != second.first);
  CHECK_EQ(f.stage.summary.get(Count::kFlowsUnbound), 0u);
}

TEST("flow table: id 0 is no flow; ids beyond int64 are") {
  Fixture f;
  uint64_t a = f.add(f.outs, ids({0, UINT64_MAX, 0}), 1);
  uint64_t b = f.add(f.in, ids({UINT64_MAX}), 2);
  CHECK(f.stage.flows.resolve());
  CHECK_EQ(f.edges(f.outs, ids({0, UINT64_MAX, 0}), a).first.size(), 1u);
  CHECK(f.edges(f.in, ids({UINT64_MAX}), b).second);
}

TEST("flow table: an in before its out is counted, and neither is drawn") {
  Fixture f;
  uint64_t a = f.add(f.in, ids({5}), 1);
  uint64_t b = f.add(f.out, ids({5}), 2);
  uint64_t c = f.add(f.out, ids({6}), 2);
  CHECK(f.stage.flows.resolve());
  CHECK(!f.edges(f.in, ids({5}), a).second);
  CHECK(!f.edges(f.out, ids({5}), b).second);
  CHECK(!f.edges(f.out, ids({6}), c).second);
  CHECK_EQ(f.stage.summary.get(Count::kFlowsReversed), 1u);
  CHECK_EQ(f.stage.summary.get(Count::kFlowsUnbound), 1u);
}

TEST("flow table: at one time, the order of the file decides") {
  Fixture f;
  f.add(f.out, ids({5}), 7, 1);
  f.add(f.in, ids({5}), 7, 0);
  f.add(f.out, ids({6}), 7, 0);
  f.add(f.in, ids({6}), 7, 1);
  CHECK(f.stage.flows.resolve());
  CHECK_EQ(f.stage.summary.get(Count::kFlowsReversed), 1u);
}

TEST("flow table: many flows spill and still meet") {
  Fixture f;
  constexpr uint64_t kMany = 20'000;
  std::vector<uint64_t> first(kMany);
  for (uint64_t i = 0; i < kMany; ++i) first[i] = f.add(f.out, ids({i + 1}), 1);
  for (uint64_t i = 0; i < kMany; ++i) f.add(f.in, ids({kMany - i}), 2);
  CHECK(f.stage.budget.runs() > 1);
  CHECK(f.stage.flows.resolve());
  bool all = true;
  for (uint64_t i = 0; i < kMany; ++i) all = all && f.edges(f.out, ids({i + 1}), first[i]).second;
  CHECK(all);
  CHECK_EQ(f.stage.summary.get(Count::kFlowsUnbound), 0u);
}

TEST("flow table: equal correlation values of one domain are chained in time") {
  nvtxSemanticsCorrelation_t semantics = {};
  semantics.header = {sizeof(semantics), NVTX_SEMANTIC_ID_CORRELATION_V1, 1, nullptr};
  schemas::Entry field = entry(kUint64, "id");
  field.semantics = &semantics.header;
  Fixture f;
  const Schema& one = f.types.add({field});
  semantics.correlationDomainUuid[0] = 1;
  const Schema& other = f.types.add({field});
  uint64_t a = f.add(one, ids({4}), 3);
  uint64_t b = f.add(one, ids({4}), 1);
  uint64_t c = f.add(one, ids({4}), 2);
  uint64_t d = f.add(other, ids({4}), 4);
  CHECK(f.stage.flows.resolve());
  auto edges_of = [&](const Schema& schema, uint64_t at) { return f.edges(schema, ids({4}), at); };
  CHECK_EQ(edges_of(one, b).first.size(), 1u);
  CHECK_EQ(edges_of(one, c).first.size(), 2u);
  CHECK_EQ(edges_of(one, a).first.size(), 1u);
  CHECK_EQ(edges_of(other, d).first.size(), 0u);
  CHECK(edges_of(other, d).second);
}
