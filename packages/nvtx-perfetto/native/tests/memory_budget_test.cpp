// SPDX-License-Identifier: Apache-2.0
#include "io/memory_budget.h"

#include <memory>
#include <vector>

#include "check.h"
#include "io/run_sorter.h"

using namespace nvtx_perfetto;

namespace {

constexpr size_t kLimit = 16 << 20;
constexpr size_t kRecord = 64;  // with its head

// Every other record lies before the one it follows, so that batches keep keys.
void add_unordered(RunSorter& sorter, size_t bytes) {
  uint8_t payload[kRecord - sizeof(RecordHead)] = {};
  for (size_t i = 0; i < bytes / kRecord; ++i) {
    sorter.add(static_cast<int64_t>(i ^ 1), 0, 0, payload, sizeof(payload));
  }
}

}  // namespace

TEST("memory budget: the room of a sorted batch is counted until it is given back") {
  RecordBatch batch;
  for (int64_t i = 0; i < 1000; ++i) batch.add(-i, 0, 0, 40);
  size_t full = batch.memory();
  CHECK(full >= 1000 * (40 + sizeof(RecordHead)));
  batch.clear();
  CHECK_EQ(batch.memory(), full);
  batch.add(0, 0, 0, 40);
  CHECK_EQ(batch.memory(), full);
  batch.release();
  CHECK_EQ(batch.memory(), 0u);
}

TEST("memory budget: the batches of many sorters are a small part of the limit") {
  MemoryBudget budget(kLimit);
  SpillFile file(check::folder());
  CHECK_EQ(budget.batch_size(), kLimit / 16);
  std::vector<std::unique_ptr<RunSorter>> sorters;
  for (int i = 0; i < 32; ++i) sorters.push_back(std::make_unique<RunSorter>(budget, file));
  for (auto& sorter : sorters) add_unordered(*sorter, 128 << 10);
  CHECK_EQ(budget.batch_size(), kLimit / 8 / 32);
  sorters.resize(4);
  CHECK_EQ(budget.batch_size(), kLimit / 8 / 4);
  sorters.clear();
  CHECK_EQ(budget.batch_size(), kLimit / 16);
}
