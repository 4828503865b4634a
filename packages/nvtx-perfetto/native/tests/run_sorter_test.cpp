// SPDX-License-Identifier: Apache-2.0
#include "io/run_sorter.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "check.h"

using namespace nvtx_perfetto;

namespace {

using Row = std::tuple<int64_t, int64_t, uint32_t, std::string>;

std::vector<Row> drained(RunSorter& sorter) {
  std::vector<Row> rows;
  CHECK(sorter.drain([&](const Record& record) {
    std::string bytes(reinterpret_cast<const char*>(record.bytes), record.head.size);
    rows.emplace_back(record.head.first, record.head.second, record.head.tag, bytes);
  }));
  return rows;
}

void add(RunSorter& sorter, const Row& row) {
  const std::string& bytes = std::get<3>(row);
  sorter.add(std::get<0>(row), std::get<1>(row), std::get<2>(row), bytes.data(), bytes.size());
}

// The tag is the arrival, so equal keys show whether it was kept.
std::vector<Row> random_rows(uint32_t count, int64_t range) {
  std::mt19937_64 random(count);
  std::vector<Row> rows;
  for (uint32_t i = 0; i < count; ++i) {
    auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(range)) - range / 2;
    auto second = static_cast<int64_t>(random() % 3) - 1;
    rows.emplace_back(first, second, i,
                      std::string(random() % 20, static_cast<char>('a' + i % 26)));
  }
  return rows;
}

std::vector<Row> sorted(std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  return rows;
}

}  // namespace

TEST("run sorter: in memory, ties keep their arrival") {
  MemoryBudget budget(1 << 20);
  SpillFile file(check::folder());
  RunSorter sorter(budget, file);
  std::vector<Row> rows = random_rows(2000, 50);
  for (const Row& row : rows) add(sorter, row);
  CHECK_EQ(sorter.count(), 2000u);
  CHECK(drained(sorter) == sorted(rows));
  CHECK(sorter.empty());
  CHECK_EQ(budget.runs(), 0u);
}

TEST("run sorter: the extremes of both keys sort as numbers") {
  MemoryBudget budget(1 << 20);
  SpillFile file(check::folder());
  RunSorter sorter(budget, file);
  std::vector<Row> rows = {{INT64_MAX, INT64_MIN, 0, "d"},
                           {INT64_MIN, INT64_MAX, 1, "b"},
                           {0, 0, 2, ""},
                           {INT64_MIN, INT64_MIN, 3, "a"}};
  for (const Row& row : rows) add(sorter, row);
  CHECK(drained(sorter) == sorted(rows));
}

TEST("run sorter: many runs under a tiny budget merge in several passes, ties in arrival order") {
  MemoryBudget budget(64 << 10);
  SpillFile file(check::folder());
  RunSorter sorter(budget, file);
  std::vector<Row> rows = random_rows(20'000, 200);
  for (size_t i = 0; i < rows.size(); ++i) {
    add(sorter, rows[i]);
    if (i % 200 == 199) CHECK(sorter.spill());
  }
  CHECK_EQ(budget.runs(), 100u);
  CHECK_EQ(sorter.memory(), 0u);
  CHECK(drained(sorter) == sorted(rows));
  CHECK_EQ(sorter.lost(), 0u);
}

TEST("run sorter: a record larger than any buffer survives a spill") {
  MemoryBudget budget(64 << 10);
  SpillFile file(check::folder());
  RunSorter sorter(budget, file);
  std::vector<Row> rows = {{2, 0, 0, std::string(3 << 20, 'x')},
                           {1, 0, 1, "small"},
                           {3, 0, 2, std::string(1 << 20, 'y')}};
  for (const Row& row : rows) {
    add(sorter, row);
    CHECK(sorter.spill());
  }
  CHECK(drained(sorter) == sorted(rows));
}

TEST("run sorter: it can be filled again after it was drained") {
  MemoryBudget budget(64 << 10);
  SpillFile file(check::folder());
  RunSorter sorter(budget, file);
  for (int round = 0; round < 3; ++round) {
    std::vector<Row> rows = random_rows(500, 10);
    for (const Row& row : rows) add(sorter, row);
    if (round == 1) CHECK(sorter.spill());
    CHECK(drained(sorter) == sorted(rows));
    CHECK(drained(sorter).empty());
  }
  CHECK(!budget.exceeded());
}

TEST("run sorter: without a folder for runs, records stay in memory and are not lost") {
  MemoryBudget budget(64 << 10);
  setenv("TMPDIR", "/nowhere/at/all", 1);
  SpillFile file("/nowhere/either");
  RunSorter sorter(budget, file);
  std::vector<Row> rows = random_rows(300, 10);
  for (const Row& row : rows) add(sorter, row);
  CHECK(!sorter.spill());
  unsetenv("TMPDIR");
  CHECK(file.error().find("/nowhere/either") != std::string::npos);
  CHECK(drained(sorter) == sorted(rows));
}

TEST("run sorter: on a full disk records stay in memory, however often a spill is tried") {
  MemoryBudget budget(64 << 10);
  SpillFile file(check::folder());
  RunSorter sorter(budget, file);
  std::vector<Row> rows = random_rows(3000, 100);
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = 4096;
  ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &full);
  int spilled = 0;
  for (const Row& row : rows) {
    add(sorter, row);
    spilled += sorter.count() > 500 && sorter.spill();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK_EQ(spilled, 0);
  CHECK(file.error().find("temporary file") != std::string::npos);
  CHECK(drained(sorter) == sorted(rows));
}

// Blocks of rows that lie in order: each goes on the run before it, or starts another.
std::vector<Row> blocks(const std::vector<int64_t>& starts, uint32_t rows_each) {
  std::vector<Row> rows;
  for (int64_t start : starts) {
    for (uint32_t i = 0; i < rows_each; ++i) {
      rows.emplace_back(start + i / 3, 0, static_cast<uint32_t>(rows.size()), "some bytes");
    }
  }
  return rows;
}

TEST("run sorter: blocks in order, equal at their seams, overlapping and out of order") {
  for (size_t limit : {size_t{64} << 10, size_t{64} << 20}) {
    MemoryBudget budget(limit);
    SpillFile file(check::folder());
    RunSorter sorter(budget, file);
    std::vector<Row> rows = blocks({0, 6666, 6666, 13332, 5, 40'000, 39'999, 0}, 20'000);
    for (const Row& row : rows) {
      add(sorter, row);
      if (budget.exceeded()) CHECK(sorter.spill());
    }
    CHECK(drained(sorter) == sorted(rows));
  }
}

TEST("run sorter: rows in order are held in a fraction of their size") {
  MemoryBudget budget(64 << 20);
  SpillFile file(check::folder());
  RunSorter sorter(budget, file);
  std::vector<Row> rows = blocks({0}, 100'000);
  for (const Row& row : rows) add(sorter, row);
  CHECK(sorter.memory() < rows.size() * 40 / 3);
  CHECK(drained(sorter) == sorted(rows));
}
