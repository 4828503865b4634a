// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nvtx_perfetto {

// Whatever was handled rather than written as it came, and how much was written. The names
// are what `debug.summary.<name>` shows.
enum class Count : uint8_t {
  kEvents,
  kCounterSamples,
  kCrossings,
  kOrderBreaks,
  kLateEvents,
  kUnmatchedPops,
  kUnmatchedEnds,
  kRangesLeftOpen,
  kEndsBeforeBegin,
  kBadIds,
  kRepairedTexts,
  kCutMessages,
  kFlowsReversed,
  kFlowsUnbound,
  kRoundedCounters,
  kUnrelatedClocks,
  kBadSyncPoints,
  kClockResidualNs,
  kClockKept,
  kSpilledRuns,
  kDroppedTimes,
  kDroppedUntied,
  kDroppedOverLimit,
  kDroppedByError,
  kInheritedPops,
  kDroppedRanges,
  kUnsupportedCalls,
  kKilledSessions,
  kRecoveredRows,
  kUnreadableRuns,
  kCount
};

const char* count_name(Count count);

// Data that did not reach the file, as opposed to data that was repaired.
bool is_loss(Count count);

// Counts of one session or part; safe to add to from several threads.
class Summary {
 public:
  void add(Count count, uint64_t much = 1) {
    counts_[static_cast<size_t>(count)].fetch_add(much, std::memory_order_relaxed);
  }
  void raise(Count count, uint64_t least);
  uint64_t get(Count count) const {
    return counts_[static_cast<size_t>(count)].load(std::memory_order_relaxed);
  }
  uint64_t lost() const;

 private:
  std::atomic<uint64_t> counts_[static_cast<size_t>(Count::kCount)] = {};
};

}  // namespace nvtx_perfetto
