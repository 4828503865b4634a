// SPDX-License-Identifier: Apache-2.0
#include "model/track_tree.h"

#include "check.h"
#include "packets.h"

using namespace nvtx_perfetto;

namespace {

struct Fixture {
  packets::MemorySink sink;
  TrackTree tree{sink, 1, 7, "session"};

  uint64_t scope(const char* path) { return tree.scope(parse_scope_path(path)); }
  packets::Track track(uint64_t uuid) {
    tree.flush();
    return sink.trace().tracks.at(uuid);
  }
};

constexpr uint64_t kBeyond = uint64_t{1} << 31;

}  // namespace

TEST("track tree: one path is one track, below the session's own") {
  Fixture f;
  uint64_t leaf = f.scope("a/b[1]");
  CHECK_EQ(f.scope("/a//b[1]/"), leaf);
  CHECK(f.scope("a/b[2]") != leaf);
  CHECK_EQ(f.track(leaf).name, "b[1]");
  CHECK_EQ(f.track(leaf).parent, f.scope("a"));
  CHECK_EQ(f.track(f.scope("a")).parent, f.scope(""));
  CHECK_EQ(f.track(f.scope("")).name, "session");
}

TEST("track tree: processes and threads are described as such, once named with their name") {
  Fixture f;
  uint64_t thread = f.scope("process[5]/thread[6]");
  uint64_t process = f.scope("process[5]");
  CHECK_EQ(f.track(process).name, "process 5 ");
  CHECK_EQ(f.track(thread).name, "thread 5 6 ");
  CHECK_EQ(f.scope("x/process[5] python/thread[6] main"), thread);
  CHECK_EQ(f.scope("process[5] python"), process);
  CHECK_EQ(f.track(process).name, "process 5 python");
  CHECK_EQ(f.track(thread).name, "thread 5 6 main");
  f.scope("process[5] renamed");
  CHECK_EQ(f.track(process).name, "process 5 python");
}

TEST("track tree: a registered name reaches threads seen before and after it") {
  Fixture f;
  uint64_t before = f.tree.thread({}, 5, true, 6, true);
  f.tree.name_thread(6, "worker");
  CHECK_EQ(f.track(before).name, "thread 5 6 worker");
  CHECK_EQ(f.track(f.tree.thread({}, 9, true, 6, true)).name, "thread 9 6 worker");
  CHECK_EQ(f.track(f.tree.thread({}, 9, true, 7, true)).name, "thread 9 7 ");
}

TEST("track tree: ids that the engine cannot hold become plain tracks of that name") {
  Fixture f;
  CHECK_EQ(f.track(f.tree.thread({}, kBeyond, true, 0, false)).name, "process[2147483648]");
  CHECK_EQ(f.track(f.tree.thread({}, 5, true, kBeyond, true)).name, "thread[2147483648]");
  CHECK_EQ(f.track(f.tree.thread({}, 5, true, 0, true)).name, "thread[0]");
  CHECK_EQ(f.track(f.scope("process[gpu]/thread[x]")).name, "thread[x]");
  CHECK_EQ(f.track(f.scope("thread[7]")).name, "thread[7]");
}

TEST("track tree: a thread without a process takes its scope's") {
  Fixture f;
  auto path = parse_scope_path("process[8] name");
  CHECK_EQ(f.track(f.tree.thread(path, 0, false, 3, true)).name, "thread 8 3 ");
  CHECK_EQ(f.tree.thread(path, 0, false, 0, false), f.scope("process[8]"));
}

TEST("track tree: a track's id follows from what it is, whatever came before it") {
  packets::MemorySink sink;
  TrackTree one(sink, 1, 42, "session");
  TrackTree two(sink, 1, 42, "session", true);
  TrackTree other(sink, 1, 43, "session");
  auto scope = [](TrackTree& tree) { return tree.scope(parse_scope_path("process[7]/a")); };
  auto own = [](TrackTree& tree) { return tree.add(5, "stream"); };
  auto counter = [](TrackTree& tree, uint64_t owner) {
    return tree.counter(5, "level", {}, {}, owner);
  };
  uint64_t first[] = {scope(one), own(one), counter(one, 1), counter(one, 2)};
  uint64_t second[] = {counter(two, 2), counter(two, 1), own(two), scope(two)};
  CHECK_EQ(first[0], second[3]);
  CHECK_EQ(first[1], second[2]);
  CHECK_EQ(first[2], second[1]);
  CHECK_EQ(first[3], second[0]);
  CHECK(own(other) != first[1]);
  CHECK(own(one) != first[1]);
  CHECK(one.add_lane(5, "stream") != two.add_lane(5, "stream"));
}
