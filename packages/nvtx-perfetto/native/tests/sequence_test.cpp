// SPDX-License-Identifier: Apache-2.0
#include "perfetto/sequence.h"

#include <cmath>
#include <limits>

#include "check.h"
#include "packets.h"

using namespace nvtx_perfetto;
using packets::MemorySink;
using packets::Trace;

namespace {

void instant(PacketSequence& sequence, int64_t time, const std::string& name) {
  sequence.open(EventType::kInstant, time);
  sequence.add_name(sequence.name_of_text(name));
  sequence.close();
}

}  // namespace

TEST("sequence: packets are the same bytes whatever the sink's chunks") {
  std::string whole;
  for (size_t chunk : {size_t{64} << 10, size_t{1}, size_t{100}}) {
    MemorySink sink;
    SequenceIds ids(5);
    PacketBuffer out(sink, ids, chunk);
    PacketSequence sequence(out, 77, 1);
    for (int64_t i = 0; i < 300; ++i) {
      instant(sequence, i * 1000, "event " + std::to_string(i % 7));
      sequence.counter(i * 1000, i);
    }
    out.flush();
    if (whole.empty()) whole = sink.bytes;
    CHECK(sink.bytes == whole);
    CHECK_EQ(Trace(sink.bytes).events.size(), 600u);
    if (chunk == 1) CHECK_EQ(sink.appends, 600u);
  }
}

TEST("sequence: a sink that is cut between any two appends holds whole packets") {
  MemorySink sink(700);
  SequenceIds ids;
  PacketBuffer out(sink, ids, 1);
  PacketSequence sequence(out, 1, 1);
  for (int64_t i = 0; i < 100; ++i) instant(sequence, i, "name");
  CHECK(out.failed_flushes() > 0);
  size_t events = sink.trace().events.size();
  CHECK(events > 10 && events < 100);
}

TEST("sequence: times of every size come back, equal ones too") {
  std::vector<int64_t> times = {
      0, 0, 1, 127, 128, 300, int64_t{1} << 40, INT64_MAX - 1, INT64_MAX - 1, INT64_MAX};
  MemorySink sink;
  SequenceIds ids;
  PacketBuffer out(sink, ids);
  PacketSequence sequence(out, 1, 1);
  for (int64_t time : times) instant(sequence, time, "t");
  out.flush();
  std::vector<int64_t> found;
  for (const auto& event : sink.trace().events) found.push_back(event.time);
  CHECK(found == times);
}

TEST("sequence: time that runs back goes on under a new id with its state cleared") {
  MemorySink sink;
  SequenceIds ids(10);
  PacketBuffer out(sink, ids);
  PacketSequence sequence(out, 1, 1);
  for (int64_t time : {5, 3, 4, 2}) instant(sequence, time, "same");
  sequence.counter(1, int64_t{8});
  out.flush();
  Trace trace = sink.trace();
  std::vector<std::pair<uint32_t, int64_t>> found;
  for (const auto& event : trace.events) found.emplace_back(event.sequence, event.time);
  CHECK((found ==
         std::vector<std::pair<uint32_t, int64_t>>{{10, 5}, {11, 3}, {11, 4}, {12, 2}, {13, 1}}));
  CHECK_EQ(trace.events[3].name, "same");
  CHECK_EQ(trace.clock_of[12], 1u);
}

TEST("sequence: more names than are kept start the state afresh, and all read back") {
  MemorySink sink;
  SequenceIds ids;
  PacketBuffer out(sink, ids);
  PacketSequence sequence(out, 1, 1);
  for (int64_t i = 0; i < 20'000; ++i) instant(sequence, i, "name " + std::to_string(i / 2));
  for (int i = 0; i < 4; ++i) instant(sequence, 30'000 + i, std::string(500'000, 'x'));
  out.flush();
  Trace trace = sink.trace();
  bool all = trace.events.size() == 20'004;
  for (size_t i = 0; all && i < 20'000; ++i) {
    all = trace.events[i].name == "name " + std::to_string(i / 2) &&
          trace.events[i].time == static_cast<int64_t>(i);
  }
  CHECK(all);
  CHECK_EQ(trace.events.back().name.size(), 500'000u);
}

TEST("sequence: texts known by key are asked for once, and are repaired") {
  MemorySink sink;
  SequenceIds ids;
  PacketBuffer out(sink, ids);
  PacketSequence sequence(out, 1, 1);
  int asked = 0;
  for (int64_t i = 0; i < 3; ++i) {
    sequence.open(EventType::kSliceBegin, i);
    sequence.add_category(sequence.category(9, [&]() -> std::string_view {
      ++asked;
      return "dom\xFF";
    }));
    sequence.close();
    sequence.end_slice(i);
  }
  CHECK_EQ(sequence.name_if(1, [] { return static_cast<const std::string*>(nullptr); }), 0u);
  out.flush();
  CHECK_EQ(asked, 1);
  CHECK_EQ(sequence.repaired_texts(), 1u);
  CHECK_EQ(sink.trace().events[4].categories[0], "dom\xEF\xBF\xBD");
}

TEST("sequence: an abandoned packet leaves no trace, and its texts come again") {
  MemorySink sink;
  SequenceIds ids;
  PacketBuffer out(sink, ids);
  PacketSequence sequence(out, 1, 1);
  instant(sequence, 1, "first");
  sequence.open(EventType::kInstant, 2);
  sequence.add_name(sequence.name_of_text("second"));
  sequence.abandon();
  instant(sequence, 3, "second");
  out.flush();
  Trace trace = sink.trace();
  CHECK_EQ(trace.events.size(), 2u);
  CHECK_EQ(trace.events[1].name, "second");
  CHECK_EQ(trace.events[1].time, 3);
}

TEST("sequence: counter values read back as the same doubles") {
  std::vector<double> doubles = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 0.5,
                                 1e300,
                                 9007199254740992.0,
                                 4398046511104.0,
                                 4398046511103.0,
                                 -5e-324,
                                 std::numeric_limits<double>::infinity()};
  std::vector<int64_t> integers = {0, 1, -1, 127, 128, INT64_MAX, INT64_MIN, -9007199254740993};
  MemorySink sink;
  SequenceIds ids;
  PacketBuffer out(sink, ids, 1);
  PacketSequence sequence(out, 1, 1);
  for (double value : doubles) sequence.counter(1, value);
  for (int64_t value : integers) sequence.counter(2, value);
  sequence.counter(3, UINT64_MAX);
  sequence.counter(4, std::nan(""));
  Trace trace = sink.trace();
  size_t at = 0;
  for (double value : doubles) CHECK_EQ(trace.events[at++].value, value);
  for (int64_t value : integers) CHECK_EQ(trace.events[at++].value, static_cast<double>(value));
  CHECK_EQ(trace.events[at++].value, 18446744073709551615.0);
  CHECK(std::isnan(trace.events[at++].value));
}
