// SPDX-License-Identifier: Apache-2.0
#include "io/flat_map.h"

#include "check.h"
#include "io/append_table.h"

using nvtx_perfetto::AppendTable;
using nvtx_perfetto::FlatMap;

TEST("flat map: keys are found after any number of others, zero among them") {
  FlatMap map;
  CHECK_EQ(map.find(0), 0u);
  for (uint32_t i = 0; i < 10'000; ++i) map.insert(uint64_t{i} << 40, i + 1);
  CHECK_EQ(map.size(), 10'000u);
  bool all = true;
  for (uint32_t i = 0; i < 10'000; ++i) all = all && map.find(uint64_t{i} << 40) == i + 1;
  CHECK(all);
  CHECK_EQ(map.find(7), 0u);
  map.clear();
  CHECK_EQ(map.find(uint64_t{1} << 40), 0u);
}

TEST("append table: elements stay where they are while the table grows") {
  AppendTable<int> table;
  CHECK(table.find(0) == nullptr);
  table.append(0);
  const int* first = table.find(0);
  for (int i = 1; i < 100'000; ++i) table.append(i);
  CHECK(table.find(0) == first);
  bool all = true;
  for (int i = 0; i < 100'000; ++i) all = all && *table.find(static_cast<uint64_t>(i)) == i;
  CHECK(all);
  CHECK(table.find(100'000) == nullptr);
  CHECK(table.find(UINT64_MAX) == nullptr);
}
