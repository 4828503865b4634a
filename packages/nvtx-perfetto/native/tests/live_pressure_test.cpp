// SPDX-License-Identifier: Apache-2.0
// What happens when the buffers are full: whole ranges go, the newest first, and are counted.
#include "live_recording.h"

using namespace recording;

TEST("live pressure: a deep nest keeps room for all its pops") {
  Recording recording(16);
  constexpr int kDeep = 400'000;  // far more than sixteen chunks hold
  for (int i = 0; i < kDeep; ++i) {
    CHECK_EQ(recording.writer->push(0, recording.named("deep")), i);
  }
  for (int i = kDeep; i-- > 0;) CHECK_EQ(recording.writer->pop(0, nullptr, 0), i);
  packets::Trace trace = recording.finish();
  size_t kept = count(trace, kBegin);
  CHECK(kept > 0);
  CHECK(kept < size_t{kDeep});
  CHECK_EQ(count(trace, kEnd), kept);
  CHECK_EQ(summary(trace, "dropped_ranges"), std::to_string(kDeep - kept));
  CHECK_EQ(summary(trace, "ranges_left_open"), "");
}

TEST("live pressure: the last range that is taken has room for its pop, to the byte") {
  // Ranges that fill the buffers with and without sixteen bytes left over.
  for (int marks : {0, 1}) {
    Recording recording(16, "trace" + std::to_string(marks));
    live::EventInput nameless;
    for (int i = 0; i < marks; ++i) recording.writer->mark(0, nameless);
    constexpr int kDeep = 200'000;  // more than sixteen chunks hold
    for (int i = 0; i < kDeep; ++i) recording.writer->push(0, nameless);
    while (recording.writer->pop(0, nullptr, 0) > 0) {
    }
    packets::Trace trace = recording.finish();
    CHECK(count(trace, kBegin) < size_t{kDeep});
    CHECK_EQ(count(trace, kEnd), count(trace, kBegin));
  }
}

TEST("live pressure: what is inside a dropped range is dropped too, in its domain alone") {
  Recording recording(16);
  uint32_t other = 1;
  recording.registry.create_domain("other");
  constexpr int kMany = 400'000;  // far more than sixteen chunks hold
  for (int i = 0; i < kMany; ++i) recording.writer->push(0, recording.named("fill"));
  CHECK(recording.session->stats().dropped > 0);
  recording.session->flush();
  recording.writer->mark(0, recording.named("inside"));
  CHECK_EQ(recording.writer->push(0, recording.named("inside")), kMany);
  CHECK_EQ(recording.writer->pop(0, nullptr, 0), kMany);
  while (recording.writer->pop(0, nullptr, 0) > 0) {
  }
  recording.writer->mark(0, recording.named("after"));
  recording.writer->mark(other, recording.named("beside"));
  packets::Trace trace = recording.finish();
  CHECK_EQ(count(trace, kInstant, "inside") + count(trace, kBegin, "inside"), size_t{0});
  CHECK_EQ(count(trace, kInstant, "after"), size_t{1});
  CHECK_EQ(count(trace, kInstant, "beside"), size_t{1});
}

TEST("live pressure: an end that finds no room waits in its slot and is written") {
  Recording recording(16);
  uint64_t id = recording.writer->start(0, recording.named("long"));
  CHECK(id != 0);
  constexpr int kMany = 400'000;
  for (int i = 0; i < kMany; ++i) recording.writer->mark(0, recording.named("m"));
  recording.writer->end(id, nullptr, 0);
  recording.writer->end(id, nullptr, 0);  // a second time: unknown
  packets::Trace trace = recording.finish();
  auto lane = trace.on("start/end ranges");
  CHECK_EQ(lane.size(), size_t{2});
  CHECK_EQ(lane.back().type, kEnd);
  CHECK_EQ(summary(trace, "unmatched_ends"), "1");
}

TEST("live pressure: long messages are cut at a character") {
  Recording recording;
  std::string text(live::kMaxText - 1, 'x');
  text += "\xC3\xA9 and more";  // the two bytes of the accent would straddle the limit
  recording.writer->mark(0, recording.named(text.c_str()));
  packets::Trace trace = recording.finish();
  CHECK_EQ(count(trace, kInstant, text.substr(0, live::kMaxText - 1)), size_t{1});
  CHECK_EQ(summary(trace, "cut_messages"), "1");
}

TEST("live pressure: long payloads are cut, and those for which there is no room") {
  Recording recording(16);
  std::string text(live::kMaxText + 1000, 'x');
  nvtxPayloadData_t payload{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, text.size() + 1, text.c_str()};
  live::EventInput event = recording.named("long");
  event.payloads = &payload;
  event.payload_count = 1;
  recording.writer->mark(0, event);
  live::EventInput nameless;
  constexpr int kDeep = 200'000;  // more than sixteen chunks hold
  for (int i = 0; i < kDeep; ++i) recording.writer->push(0, nameless);
  payload.size = 1000;
  int cut = 1;
  for (int left = kDeep; left > 0; --left) {
    CHECK_EQ(recording.writer->pop(0, &payload, 1), left - 1);
  }
  packets::Trace trace = recording.finish();
  size_t kept = count(trace, kBegin);
  CHECK(kept < size_t{kDeep});
  CHECK_EQ(count(trace, kEnd), kept);
  CHECK_EQ(count(trace, kInstant, "long"), size_t{1});
  for (const packets::Event& one : trace.events) {
    if (one.type == kEnd && !one.arguments.empty()) --cut;
    if (one.name == "long") CHECK_EQ(one.arguments.at("payload").size(), live::kMaxText);
  }
  CHECK_EQ(summary(trace, "cut_messages"), std::to_string(static_cast<int>(kept) + cut));
}
