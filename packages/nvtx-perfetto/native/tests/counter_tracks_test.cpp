// SPDX-License-Identifier: Apache-2.0
#include "model/counter_tracks.h"

#include <cmath>

#include "stage.h"

using namespace nvtx_perfetto;
using schemas::Bytes;
using schemas::entry;
using stage::Stage;

namespace {

struct Fixture {
  Stage stage;
  schemas::Types types;
  Counter counter;
  std::unique_ptr<CounterTracks> tracks;

  void open(const Schema& schema, CounterSemantics semantics = {}) {
    counter.name = "c";
    counter.schema = &schema;
    counter.sample_size = schema.size;
    counter.semantics = semantics;
    counter.semantics.given = true;
    tracks = std::make_unique<CounterTracks>(stage.shop(), stage.out, counter, 0, stage::kClock);
  }
  void open(uint64_t type, CounterSemantics semantics = {}) {
    open(types.add({entry(type, nullptr)}), semantics);
  }
  template <typename T>
  void pass(int64_t time, T value) {
    tracks->pass(time, reinterpret_cast<const uint8_t*>(&value));
  }
  std::vector<std::pair<int64_t, double>> series(const std::string& name = "c") {
    tracks->flush();
    std::vector<std::pair<int64_t, double>> found;
    for (const auto& event : stage.trace().on(name)) found.emplace_back(event.time, event.value);
    return found;
  }
};

using Series = std::vector<std::pair<int64_t, double>>;

CounterSemantics delta() {
  CounterSemantics semantics;
  semantics.delta = DeltaKind::kDelta;
  return semantics;
}

}  // namespace

TEST("counter tracks: a group has a track a field, groups and arrays inside it by their path") {
  Fixture f;
  const Schema& inner = f.types.add(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32, "y")});
  f.open(f.types.add(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "a"), entry(inner.id, "in"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "v", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2)}));
  Bytes bytes;
  bytes.add<uint8_t>(200).add<int32_t>(-5).add<float>(0.5f).add<int16_t>(1).add<int16_t>(-2);
  f.tracks->pass(7, bytes.row(*f.counter.schema).data);
  CHECK((f.series("c.a") == Series{{7, 200}}));
  CHECK((f.series("c.in.x") == Series{{7, -5}}));
  CHECK((f.series("c.in.y") == Series{{7, 0.5}}));
  CHECK((f.series("c.v[0]") == Series{{7, 1}}));
  CHECK((f.series("c.v[1]") == Series{{7, -2}}));
}

TEST("counter tracks: differences add up, a zero adds none, a gap keeps the sum") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_INT64, delta());
  f.pass<int64_t>(1, 5);
  f.tracks->pass_no_value(2, NoValue::kZero);
  f.pass<int64_t>(3, -7);
  f.tracks->pass_no_value(4, NoValue::kUnavailable);
  f.pass<int64_t>(5, 1);
  f.tracks->pass_no_value(6, NoValue::kUnchanged);
  Series found = f.series();
  CHECK_EQ(found.size(), 6u);
  CHECK(std::isnan(found[3].second));
  found.erase(found.begin() + 3);
  CHECK((found == Series{{1, 5}, {2, 5}, {3, -2}, {5, -1}, {6, -1}}));
}

TEST("counter tracks: kept differences add up in time order, also after a spill") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_INT32, delta());
  std::vector<std::pair<int64_t, int32_t>> given = {{5, 1}, {1, 10}, {4, 2}, {2, 20}};
  for (const auto& [time, value] : given) {
    f.tracks->keep(time, reinterpret_cast<const uint8_t*>(&value));
    f.tracks->spill();
  }
  CHECK((f.series() == Series{{1, 10}, {2, 30}, {4, 32}, {5, 33}}));
}

TEST("counter tracks: absolute samples without a value are 0, the last value, or a gap") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
  f.tracks->pass_no_value(0, NoValue::kUnchanged);
  f.pass<double>(1, 2.5);
  f.tracks->pass_no_value(2, NoValue::kUnchanged);
  f.tracks->pass_no_value(3, NoValue::kUnavailable);
  f.tracks->pass_no_value(4, NoValue::kUnchanged);
  f.tracks->pass_no_value(5, NoValue::kZero);
  Series found = f.series();
  CHECK(std::isnan(found[0].second) && std::isnan(found[3].second));
  CHECK_EQ(found[2].second, 2.5);
  CHECK_EQ(found[4].second, 2.5);
  CHECK_EQ(found[5].second, 0);
}

TEST("counter tracks: values beyond 2^53 are written and counted, unsigned ones as such") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
  f.pass<uint64_t>(1, UINT64_MAX);
  f.pass<uint64_t>(2, (uint64_t{1} << 53) + 2);
  f.pass<uint64_t>(3, uint64_t{1} << 53);
  CHECK((f.series() ==
         Series{{1, 18446744073709551615.0}, {2, 9007199254740994.0}, {3, 9007199254740992.0}}));
  CHECK_EQ(f.stage.summary.get(Count::kRoundedCounters), 2u);
}

TEST("counter tracks: sums of unsigned differences reach beyond int64") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, delta());
  f.pass<uint64_t>(1, uint64_t{1} << 63);
  f.pass<uint64_t>(2, uint64_t{1} << 62);
  CHECK((f.series() == Series{{1, 9223372036854775808.0}, {2, 13835058055282163712.0}}));
}

TEST("counter tracks: an integer scale is the unit's multiplier, another one is applied") {
  CounterSemantics semantics;
  semantics.unit = "bytes";
  semantics.numerator = 2048;
  semantics.denominator = 2;
  Fixture whole;
  whole.open(NVTX_PAYLOAD_ENTRY_TYPE_INT32, semantics);
  whole.pass<int32_t>(1, 3);
  CHECK((whole.series() == Series{{1, 3}}));
  packets::Track track = whole.stage.trace().tracks.begin()->second;
  CHECK_EQ(track.unit, "bytes");
  CHECK_EQ(track.multiplier, 1024u);
  semantics.numerator = 1;
  Fixture part;
  part.open(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, semantics);
  part.pass<uint64_t>(1, 3);
  part.pass<uint64_t>(2, uint64_t{1} << 63);
  CHECK((part.series() == Series{{1, 1.5}, {2, 4611686018427387904.0}}));
}

TEST("counter tracks: normalized integers lie in [0, 1] or [-1, 1]") {
  CounterSemantics semantics;
  semantics.normalize = true;
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, semantics);
  f.pass<uint8_t>(1, 0);
  f.pass<uint8_t>(2, 255);
  CHECK((f.series() == Series{{1, 0}, {2, 1}}));
  Fixture g;
  g.open(NVTX_PAYLOAD_ENTRY_TYPE_INT8, semantics);
  g.pass<int8_t>(1, 127);
  g.pass<int8_t>(2, -127);
  g.pass<int8_t>(3, -128);
  CHECK((g.series() == Series{{1, 1}, {2, -1}, {3, -1}}));
}

TEST("counter tracks: limits and interpolation stand in the description") {
  CounterSemantics semantics;
  semantics.limits = "min 0, max 9";
  semantics.interpolation = "point";
  Fixture f;
  f.counter.description = "what it is";
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_INT8, semantics);
  CHECK_EQ(f.stage.trace().tracks.begin()->second.description,
           "what it is; limits: min 0, max 9; interpolation: point");
}

TEST("counter tracks: a batch is the same as its samples one by one") {
  for (uint64_t type : {NVTX_PAYLOAD_ENTRY_TYPE_INT64, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
                        NVTX_PAYLOAD_ENTRY_TYPE_UINT64}) {
    std::vector<int64_t> times;
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < 3000; ++i) {
      times.push_back(static_cast<int64_t>(i * i));
      values.push_back(i % 5 == 0 ? ~i : i << (i % 60));
    }
    Fixture one;
    one.open(type);
    for (size_t i = 0; i < times.size(); ++i) one.pass(times[i], values[i]);
    Fixture many;
    many.open(type);
    many.tracks->pass_batch(times.data(), times.size(),
                            reinterpret_cast<const uint8_t*>(values.data()), 8);
    one.tracks->flush();
    many.tracks->flush();
    one.stage.trace();
    many.stage.trace();
    CHECK(one.stage.sink.bytes == many.stage.sink.bytes);
    CHECK_EQ(one.stage.summary.get(Count::kRoundedCounters),
             many.stage.summary.get(Count::kRoundedCounters));
  }
}

TEST("counter tracks: UNCHANGED before what is written already does not repeat a later value") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_INT64);
  f.pass<int64_t>(100, 7);
  int64_t early = 3;
  f.tracks->keep_no_value(20, NoValue::kUnchanged);
  f.tracks->keep(30, reinterpret_cast<const uint8_t*>(&early));
  f.tracks->keep_no_value(40, NoValue::kUnchanged);
  f.tracks->keep_no_value(120, NoValue::kUnchanged);
  Series found = f.series();
  CHECK_EQ(found.size(), 5u);
  CHECK(std::isnan(found[1].second));
  found.erase(found.begin() + 1);
  CHECK((found == Series{{100, 7}, {30, 3}, {40, 3}, {120, 7}}));
}

TEST("counter tracks: 128-bit values become doubles, and those that do not fit are counted") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_INT128);
  f.pass<__int128>(1, -5);
  f.pass<__int128>(2, static_cast<__int128>(1) << 100);
  CHECK_EQ(f.stage.summary.get(Count::kRoundedCounters), 0u);
  f.pass<__int128>(3, (static_cast<__int128>(1) << 100) + 1);
  CHECK_EQ(f.stage.summary.get(Count::kRoundedCounters), 1u);
  CHECK((f.series() == Series{{1, -5}, {2, std::ldexp(1.0, 100)}, {3, std::ldexp(1.0, 100)}}));
}

TEST("counter tracks: binary128 values become doubles") {
  Fixture f;
  f.open(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128);
  struct Quad {
    uint64_t low;
    uint64_t high;
  };
  f.pass(1, Quad{0, 0x3FFF800000000000});                   // 1.5
  f.pass(2, Quad{0, 0xC000000000000000});                   // -2
  f.pass(3, Quad{0, 0});                                    // 0
  f.pass(4, Quad{0x1000000000000000, 0x3FFF000000000000});  // 1 + 2^-52
  f.pass(5, Quad{0, 0x7FFF000000000000});                   // infinity
  CHECK_EQ(f.stage.summary.get(Count::kRoundedCounters), 0u);
  f.pass(6, Quad{1, 0x3FFF000000000000});  // 1 + 2^-112
  f.pass(7, Quad{0, 0x0001000000000000});  // far below the least double
  CHECK_EQ(f.stage.summary.get(Count::kRoundedCounters), 2u);
  CHECK((f.series() == Series{{1, 1.5},
                              {2, -2},
                              {3, 0},
                              {4, 1 + std::ldexp(1.0, -52)},
                              {5, HUGE_VAL},
                              {6, 1},
                              {7, 0}}));
}
