// SPDX-License-Identifier: Apache-2.0
// Drains that cannot write for a while: once they can, all is there, and nothing twice.
#include "live_recording.h"

using namespace recording;

namespace {

void record_all(Recording& recording, const char* name) {
  recording.writer->mark(1, recording.named(name));
  recording.writer->push(0, recording.named(name));
  recording.writer->pop(0, nullptr, 0);
  recording.writer->end(recording.writer->start(0, recording.named(name)), nullptr, 0);
}

}  // namespace

TEST("live failures: what a full disk did not take is written later, once") {
  Recording recording;
  recording.registry.create_domain("own");
  record_all(recording, "before");
  CHECK(recording.session->flush());
  uint64_t good = recording.session->stats().part_bytes;
  record_all(recording, "during");
  {
    FullDisk full(good + 20);
    CHECK(!recording.session->flush());
    CHECK(!recording.session->flush());
  }
  CHECK_EQ(recording.session->stats().part_bytes, good);
  CHECK(recording.session->flush());
  record_all(recording, "after");
  packets::Trace trace = recording.finish();
  for (const char* name : {"before", "during", "after"}) {
    CHECK_EQ(count(trace, kInstant, name), size_t{1});
    CHECK_EQ(count(trace, kBegin, name), size_t{2});
  }
  CHECK_EQ(count(trace, kEnd), size_t{6});
  CHECK_EQ(trace.on("start/end ranges").size(), size_t{6});
  CHECK_EQ(summary(trace, "events"), "9");
}

TEST("live failures: a first lane that a full disk did not take is described later") {
  Recording recording;
  recording.writer->mark(0, recording.named("m"));
  CHECK(recording.session->flush());
  uint64_t good = recording.session->stats().part_bytes;
  recording.writer->end(recording.writer->start(0, recording.named("r")), nullptr, 0);
  {
    FullDisk full(good);
    CHECK(!recording.session->flush());
  }
  CHECK_EQ(recording.finish().on("start/end ranges").size(), size_t{2});
}
