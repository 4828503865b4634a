// SPDX-License-Identifier: Apache-2.0
// Which processes and threads of joined traces are one, and which are not.
#include "live/process_merge.h"

#include "check.h"
#include "packets.h"
#include "perfetto/tracks.h"

using namespace nvtx_perfetto;
using live::ProcessMerge;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

// The descriptor in the one packet that `bytes` holds.
std::string descriptor(const ByteBuffer& bytes) {
  return packets::Message(bytes.view())
      .message(field::kTrace_packet)
      .text(field::kTracePacket_track_descriptor);
}
void add_process(ProcessMerge& merge, size_t input, uint64_t uuid, int64_t start) {
  ByteBuffer bytes;
  describe_process(bytes, 1, uuid, 42, "name", {}, start);
  merge.add(input, descriptor(bytes));
}
void add_thread(ProcessMerge& merge, size_t input, uint64_t uuid) {
  ByteBuffer bytes;
  describe_thread(bytes, 1, uuid, 42, 43, "name");
  merge.add(input, descriptor(bytes));
}

// The id that a track of this id has in the joined trace.
uint64_t joined(const ProcessMerge& merge, uint64_t uuid) {
  ByteBuffer bytes;
  describe_thread(bytes, 1, uuid, 42, 43, {});
  std::string packet = packets::Message(bytes.view()).text(field::kTrace_packet);
  live::WireReader reader(packet);
  live::WireField part;
  ByteBuffer out;
  while (reader.next(part)) merge.append(out, part);
  return packets::Message(out.view())
      .message(field::kTracePacket_track_descriptor)
      .number(field::kTrackDescriptor_uuid);
}

bool anywhere(size_t, size_t) { return true; }

}  // namespace

TEST("live process merge: an exec keeps the process and its thread") {
  ProcessMerge merge;
  add_process(merge, 0, 100, 50 * kSecond);
  add_thread(merge, 0, 101);
  add_process(merge, 1, 200, 50 * kSecond + 300);
  add_thread(merge, 1, 201);
  merge.settle(anywhere);
  CHECK_EQ(joined(merge, 200), uint64_t{100});
  CHECK_EQ(joined(merge, 201), uint64_t{101});
}

TEST("live process merge: an id used again later is another process, and so is another host's") {
  ProcessMerge later;
  add_process(later, 0, 100, 50 * kSecond);
  add_process(later, 1, 200, 60 * kSecond);
  later.settle(anywhere);
  CHECK(later.empty());
  ProcessMerge elsewhere;
  add_process(elsewhere, 0, 100, 50 * kSecond);
  add_process(elsewhere, 1, 200, 50 * kSecond);
  elsewhere.settle([](size_t, size_t) { return false; });
  CHECK(elsewhere.empty());
}

TEST("live process merge: what was replayed goes to the one process that fits, if it is one") {
  ProcessMerge one;
  add_process(one, 0, 300, 0);
  add_process(one, 1, 100, 50 * kSecond);
  one.settle(anywhere);
  CHECK_EQ(joined(one, 300), uint64_t{100});
  ProcessMerge two;
  add_process(two, 0, 100, 50 * kSecond);
  add_process(two, 1, 200, 60 * kSecond);
  add_process(two, 2, 300, 0);
  two.settle(anywhere);
  CHECK(two.empty());
}

TEST(
    "live process merge: a thread's id that was used again, or ranges left open, keep threads "
    "apart") {
  ProcessMerge reused;
  add_process(reused, 0, 100, 50 * kSecond);
  add_thread(reused, 0, 101);
  add_thread(reused, 0, 102);
  add_process(reused, 1, 200, 0);
  add_thread(reused, 1, 201);
  reused.settle(anywhere);
  CHECK_EQ(joined(reused, 200), uint64_t{100});
  CHECK_EQ(joined(reused, 201), uint64_t{201});
  ProcessMerge open;
  add_process(open, 0, 100, 50 * kSecond);
  add_thread(open, 0, 101);
  add_process(open, 1, 200, 50 * kSecond);
  add_thread(open, 1, 201);
  open.note_left_open(0);
  open.settle(anywhere);
  CHECK_EQ(joined(open, 200), uint64_t{100});
  CHECK_EQ(joined(open, 201), uint64_t{201});
}
