// SPDX-License-Identifier: Apache-2.0
#include "model/summary.h"

namespace nvtx_perfetto {

const char* count_name(Count count) {
  switch (count) {
    case Count::kEvents: return "events";
    case Count::kCounterSamples: return "counter_samples";
    case Count::kCrossings: return "crossings";
    case Count::kOrderBreaks: return "order_breaks";
    case Count::kLateEvents: return "late_events";
    case Count::kUnmatchedPops: return "unmatched_pops";
    case Count::kUnmatchedEnds: return "unmatched_ends";
    case Count::kRangesLeftOpen: return "ranges_left_open";
    case Count::kEndsBeforeBegin: return "ends_before_begin";
    case Count::kBadIds: return "bad_ids";
    case Count::kRepairedTexts: return "repaired_texts";
    case Count::kCutMessages: return "cut_messages";
    case Count::kFlowsReversed: return "flows_reversed";
    case Count::kFlowsUnbound: return "flows_unbound";
    case Count::kRoundedCounters: return "rounded_counters";
    case Count::kUnrelatedClocks: return "unrelated_clocks";
    case Count::kBadSyncPoints: return "bad_sync_points";
    case Count::kClockResidualNs: return "clock_residual_ns";
    case Count::kClockKept: return "trace_clock_kept";
    case Count::kSpilledRuns: return "spilled_runs";
    case Count::kDroppedTimes: return "dropped_times";
    case Count::kDroppedUntied: return "dropped_untied";
    case Count::kDroppedOverLimit: return "dropped_over_limit";
    case Count::kDroppedByError: return "dropped_by_error";
    case Count::kInheritedPops: return "inherited_pops";
    case Count::kDroppedRanges: return "dropped_ranges";
    case Count::kUnsupportedCalls: return "unsupported_calls";
    case Count::kKilledSessions: return "killed_sessions";
    case Count::kRecoveredRows: return "recovered_rows";
    case Count::kUnreadableRuns: return "unreadable_runs";
    case Count::kCount: break;
  }
  return "unknown";
}

bool is_loss(Count count) {
  switch (count) {
    case Count::kDroppedTimes:
    case Count::kDroppedUntied:
    case Count::kDroppedOverLimit:
    case Count::kDroppedByError:
    case Count::kDroppedRanges:
    case Count::kEndsBeforeBegin: return true;
    default: return false;
  }
}

void Summary::raise(Count count, uint64_t least) {
  auto& held = counts_[static_cast<size_t>(count)];
  uint64_t now = held.load(std::memory_order_relaxed);
  while (now < least && !held.compare_exchange_weak(now, least, std::memory_order_relaxed)) {
  }
}

uint64_t Summary::lost() const {
  uint64_t total = 0;
  for (size_t i = 0; i < static_cast<size_t>(Count::kCount); ++i) {
    if (is_loss(static_cast<Count>(i))) total += get(static_cast<Count>(i));
  }
  return total;
}

}  // namespace nvtx_perfetto
