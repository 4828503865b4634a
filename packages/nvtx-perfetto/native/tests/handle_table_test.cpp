// SPDX-License-Identifier: Apache-2.0
#include "model/handle_table.h"

#include <thread>
#include <vector>

#include "check.h"

using nvtx_perfetto::HandleTable;

TEST("handle table: a handle finds its object until that is removed, and never another's") {
  HandleTable<int> table(0xA1);
  uint64_t first = table.add(std::make_shared<int>(1));
  CHECK_EQ(*table.get(first), 1);
  CHECK_EQ(*table.remove(first), 1);
  CHECK(table.remove(first) == nullptr);
  uint64_t second = table.add(std::make_shared<int>(2));
  CHECK(first != second);
  CHECK(table.get(first) == nullptr);
  CHECK(!table.lock(first));
  CHECK_EQ(*table.lock(second), 2);
}

TEST("handle table: null, garbage and handles of another kind find nothing") {
  HandleTable<int> table(0xA1);
  HandleTable<int> other(0xA2);
  uint64_t handle = table.add(std::make_shared<int>(1));
  uint64_t foreign = other.add(std::make_shared<int>(2));
  for (uint64_t bad : {uint64_t{0}, UINT64_MAX, uint64_t{0xDEADBEEF}, foreign, handle + 1,
                       handle ^ (uint64_t{1} << 30), handle | 0xFFFFFF}) {
    CHECK(table.get(bad) == nullptr);
    CHECK(!table.lock(bad));
    CHECK(!table.try_lock(bad));
    CHECK(table.remove(bad) == nullptr);
  }
}

TEST("handle table: tables of another epoch do not take a handle for one of theirs") {
  HandleTable<int> parent(0xA1, 1);
  HandleTable<int> child(0xA1, 1 << 24 | 1);
  uint64_t inherited = parent.add(std::make_shared<int>(1));
  uint64_t own = child.add(std::make_shared<int>(2));
  CHECK(inherited != own);
  CHECK(child.get(inherited) == nullptr);
}

TEST("handle table: many objects, with slots used again") {
  HandleTable<int> table(0xA3);
  std::vector<uint64_t> handles;
  for (int i = 0; i < 5000; ++i) handles.push_back(table.add(std::make_shared<int>(i)));
  for (int i = 0; i < 5000; i += 2) table.remove(handles[static_cast<size_t>(i)]);
  for (int i = 0; i < 5000; i += 2) table.add(std::make_shared<int>(-i));
  bool good = true;
  for (int i = 0; i < 5000; ++i) {
    auto found = table.get(handles[static_cast<size_t>(i)]);
    good = good && (i % 2 ? found && *found == i : !found);
  }
  CHECK(good);
}

TEST("handle table: whoever holds an object keeps others out, and the last call excludes all") {
  HandleTable<int> table(0xA3);
  uint64_t handle = table.add(std::make_shared<int>(0));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        if (auto held = table.lock(handle)) ++*held;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  int last = 0;
  table.remove(handle, [&](int& value) { last = value; });
  CHECK_EQ(last, 4000);
}
