// SPDX-License-Identifier: Apache-2.0
// The end of a drain: what threads are called, and what was counted.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "live/clock.h"
#include "live/drain.h"
#include "model/summary.h"
#include "perfetto/annotations.h"
#include "perfetto/header.h"
#include "perfetto/tracks.h"

namespace nvtx_perfetto::live {
namespace {

const std::string kSummaryArgument = "summary";
const std::string kDroppedArgument = "dropped";

std::string short_text(const char (&field)[32]) { return std::string(field, strnlen(field, 32)); }

// The OS's name of a thread of this process.
std::string os_name(int32_t tid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[32];
  ssize_t size = ::read(fd, text, sizeof(text));
  ::close(fd);
  while (size > 0 && text[size - 1] == '\n') --size;
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : std::string();
}

}  // namespace

// Names are settled as late as possible, since a child track cannot be renamed.
std::string Drain::settled_name(ThreadSlot& slot) {
  if (const std::string* given = catalog_.thread_name(slot.tid)) return *given;
  std::string name;
  bool own = file_.header().pid == ::getpid();
  if (slot.state.load(std::memory_order_relaxed) == kSlotLive) {
    if (own) name = os_name(slot.tid);
    if (name.empty()) name = short_text(slot.seen_name);
  }
  if (name.empty()) name = short_text(slot.own_name);
  return name.empty() ? std::to_string(slot.tid) : name;
}

// So that a death leaves the names that threads had shortly before.
void Drain::refresh_names() {
  for (const auto& [index, cursor] : cursors_) {
    ThreadSlot& slot = file_.slots()[index];
    if (slot.state.load(std::memory_order_relaxed) != kSlotLive) continue;
    std::string name = os_name(slot.tid);
    if (name.empty()) continue;
    std::memset(slot.seen_name, 0, sizeof(slot.seen_name));
    std::memcpy(slot.seen_name, name.data(), std::min(name.size(), sizeof(slot.seen_name) - 1));
  }
}

void Drain::describe_threads(bool last) {
  for (const auto& [index, cursor] : cursors_) {
    ThreadSlot& slot = file_.slots()[index];
    bool ended = std::find(ended_.begin(), ended_.end(), index) != ended_.end();
    if (ended || last) describe_thread(index, slot);
    if (ended) state_.left_open += thread(index).open;
  }
  if (!last && file_.header().pid == ::getpid()) refresh_names();
}

void Drain::describe_thread(uint32_t index, ThreadSlot& slot) {
  std::string name = settled_name(slot);
  describe_thread_track(slot, name);
  for (uint32_t domain = 1; domain < kMaxDomains; ++domain) {
    uint64_t word = slot.domains[domain / 64].load(std::memory_order_relaxed);
    if (!(word >> (domain % 64) & 1)) continue;
    TrackDescription track;
    track.uuid = uuids_.thread_domain(slot.serial, domain);
    track.parent = uuids_.thread(slot.serial);
    std::string shown = catalog_.domain(domain).name + " (" + name + ")";
    track.name = shown;
    describe_track(out_.bytes(), sequence_, track);
  }
  uint64_t dropped =
      slot.tallies[static_cast<size_t>(Tally::kDropped)].load(std::memory_order_relaxed);
  if (dropped == 0) return;
  PacketSequence& out = thread_track(index, 0);
  out.open(EventType::kInstant, realtime(static_cast<uint64_t>(boottime())));
  out.add_name(out.name_of_text("nvtx-perfetto dropped events"));
  AnnotationWriter(out).add(&kDroppedArgument, dropped);
  out.close();
}

void Drain::describe_thread_track(const ThreadSlot& slot, const std::string& name) {
  nvtx_perfetto::describe_thread(out_.bytes(), sequence_, uuids_.thread(slot.serial),
                                 file_.header().pid, slot.tid, name);
}

uint64_t Drain::tally(Tally kind) const {
  auto index = static_cast<size_t>(kind);
  uint64_t total = file_.header().tallies[index].load(std::memory_order_relaxed);
  for (const auto& [slot, cursor] : cursors_) {
    total += file_.slots()[slot].tallies[index].load(std::memory_order_relaxed);
  }
  return total;
}

uint64_t Drain::left_open() {
  uint64_t open = state_.left_open;
  for (const auto& [index, cursor] : cursors_) {
    bool ended = std::find(ended_.begin(), ended_.end(), index) != ended_.end();
    if (!ended) open += thread(index).open;
  }
  for (uint32_t slot = 0;; ++slot) {
    const RangeSlot* range = find_range(file_, slot);
    if (!range) return open;
    open += range->generation.load(std::memory_order_relaxed) & 1;
  }
}

// What live recording and the events that waited have of one kind.
uint64_t Drain::total(Count count) {
  uint64_t waited = deferred_ ? deferred_->summary().get(count) : 0;
  switch (count) {
    case Count::kEvents: return waited + state_.events;
    case Count::kCounterSamples: return waited + state_.samples + counters_.samples;
    case Count::kRangesLeftOpen: return waited + left_open();
    case Count::kDroppedRanges: return waited + tally(Tally::kDropped);
    case Count::kDroppedTimes: return waited + state_.dropped + counters_.dropped;
    case Count::kDroppedUntied: return waited + counters_.untied;
    case Count::kRoundedCounters: return waited + counters_.rounded;
    case Count::kUnmatchedPops: return waited + tally(Tally::kUnmatchedPop);
    case Count::kInheritedPops: return waited + tally(Tally::kInheritedPop);
    case Count::kUnmatchedEnds: return waited + tally(Tally::kUnknownEnd);
    case Count::kBadIds:
      return waited + tally(Tally::kBadHandle) + state_.bad_ids + counters_.bad_ids +
             events_.bad_handles() + catalog_.bad_definitions() + timeline_.bad_ids();
    case Count::kCutMessages: return waited + tally(Tally::kCut);
    case Count::kRepairedTexts: return waited + events_.repaired_texts();
    case Count::kUnsupportedCalls: return waited + tally(Tally::kUnsupported);
    case Count::kBadSyncPoints: return waited + timeline_.bad_points();
    case Count::kClockResidualNs: return timeline_.residual();
    default: return waited;
  }
}

void Drain::write_summary() {
  std::vector<std::pair<std::string, uint64_t>> counts;
  for (size_t i = 0; i < static_cast<size_t>(Count::kCount); ++i) {
    auto count = static_cast<Count>(i);
    counts.emplace_back(count_name(count), total(count));
  }
  counts.emplace_back("reentered_calls", tally(Tally::kReentered));
  counts.emplace_back("refused_definitions", tally(Tally::kRefused));
  TrackDescription track;
  track.uuid = uuids_.summary();
  track.name = "nvtx-perfetto summary";
  describe_track(out_.bytes(), sequence_, track);
  PacketSequence out(out_, track.uuid, kRealtime);
  out.open(EventType::kInstant, realtime(static_cast<uint64_t>(boottime())));
  out.add_name(out.name_of_text(track.name));
  AnnotationWriter writer(out);
  writer.open_dict(&kSummaryArgument);
  for (const auto& [name, count] : counts) {
    if (count > 0) writer.add(&name, count);
  }
  writer.close_nested();
  out.close();
}

}  // namespace nvtx_perfetto::live
