// SPDX-License-Identifier: Apache-2.0
#include "live/drain.h"

#include <algorithm>
#include <cstring>

#include "live/clock.h"
#include "live/recovery.h"
#include "perfetto/header.h"
#include "perfetto/tracks.h"

namespace nvtx_perfetto::live {
namespace {

std::string field_text(const char* field, size_t capacity) {
  return std::string(field, strnlen(field, capacity));
}

const Checkpoint& counted(const LiveFile& file) {
  return file.header().checkpoints[file.header().active.load(std::memory_order_acquire)];
}

std::string spool_path(const LiveFile& file) {
  const std::string& live = file.path();
  return live.substr(0, live.size() - std::strlen(kLiveSuffix)) + kSpoolSuffix;
}

}  // namespace

Drain::Drain(LiveFile& file, PartFile& part)
    : file_(file), part_(part),
      same_boot_(field_text(file.header().boot_id, sizeof(file.header().boot_id)) == boot_id()),
      uuids_(file.header().seed), ids_(std::max(1u, counted(file).next_sequence)), out_(part, ids_),
      sequence_(ids_.next()), definitions_(file), events_(catalog_), timeline_(file, catalog_),
      scopes_(file, out_, sequence_),
      counters_({file, catalog_, timeline_, scopes_, out_, sequence_}), state_(counted(file)),
      spool_(spool_path(file), state_.spool_size), threads_(kMaxThreads) {}

bool Drain::run(bool last) {
  freed_chunks_.clear();
  freed_slots_.clear();
  taken_ends_.clear();
  if (part_.failed() || part_.size() != state_.part_size) {
    if (!part_.cut(state_.part_size)) return false;
  }
  if (!spool_.cut(state_.spool_size)) return false;
  if (same_boot_) state_.clocks = read_clocks();
  timeline_.read(state_.clocks);
  try {
    if (state_.part_size == 0) write_preamble();
    collect_spans();
    // After the records, so that whatever they refer to is there.
    definitions_.read(
        [this](const DefinitionHead& head, std::string_view body) { catalog_.apply(head, body); });
    collect_late_ends();
    bool idle = spans_.empty() && async_.empty() && ended_.empty() && freed_chunks_.empty();
    if (idle && !last && state_.part_size != 0) return true;
    write_spans();
    write_async();
    bool good = !last || spool_.empty() || write_deferred();
    counters_.write();
    describe_threads(last);
    if (same_boot_) add_host_snapshot(out_.bytes(), sequence_, kRealtime);
    if (last) write_summary();
    if (good && commit()) return true;
  } catch (...) {  // out of memory: as a failed write
  }
  forget();
  return false;
}

void Drain::write_preamble() {
  const FileHeader& header = file_.header();
  add_header(out_.bytes(), sequence_, kRealtime);
  if (same_boot_) add_host_snapshot(out_.bytes(), sequence_, kRealtime);
  describe_process(out_.bytes(), sequence_, uuids_.process(), header.pid,
                   field_text(header.process_name, sizeof(header.process_name)),
                   field_text(header.label, sizeof(header.label)), header.process_start);
}

void Drain::collect_spans() {
  spans_.clear();
  cursors_.clear();
  ended_.clear();
  async_.clear();
  for (uint32_t i = 0; i < kMaxThreads; ++i) {
    ThreadSlot& slot = file_.slots()[i];
    uint32_t state = slot.state.load(std::memory_order_acquire);
    if (state != kSlotLive && state != kSlotEnded) continue;
    collect_slot(i, slot);
    if (state == kSlotEnded) ended_.push_back(i);
  }
}

void Drain::collect_slot(uint32_t index, ThreadSlot& slot) {
  uint32_t half = file_.header().active.load(std::memory_order_relaxed);
  Cursor at = slot.consumed[half];
  // A chain that is longer than the file has chunks is broken.
  for (uint32_t steps = 0; steps <= file_.header().chunk_limit; ++steps) {
    if (at.chunk == 0 || !file_.holds(at.chunk - 1)) break;
    const ChunkHeader& chunk = file_.chunk_header(at.chunk - 1);
    // `next` first: once it is set, `committed` is final.
    uint32_t next = chunk.next.load(std::memory_order_acquire);
    uint32_t committed = chunk.committed.load(std::memory_order_acquire);
    if (committed > at.offset && committed <= kChunkSize) {
      spans_.push_back({index, at.chunk - 1, at.offset, committed});
      at.offset = committed;
    }
    if (next == 0) break;
    freed_chunks_.push_back(at.chunk - 1);
    at = {next, kChunkStart};
  }
  cursors_.emplace_back(index, at);
}

void Drain::write_spans() {
  for (const Span& span : spans_) {
    const uint8_t* chunk = file_.chunk(span.chunk);
    uint32_t at = span.from;
    RecordView record;
    while (at < span.to && parse_record(chunk + at, chunk + span.to, record)) {
      write_record(span.slot, record);
      at += static_cast<uint32_t>(record.size);
    }
    state_.bad_ids += at != span.to;
  }
}

void Drain::write_record(uint32_t slot, const RecordView& record) {
  const Record& head = *record.head;
  int64_t time = realtime(head.time);
  switch (head.kind) {
    case kPush:
      ++state_.events;
      ++thread(slot).open;
      return events_.begin(thread_track(slot, head.domain), EventType::kSliceBegin, time, record);
    case kPop:
      --thread(slot).open;
      if (!record.bytes) return thread_track(slot, head.domain).end_slice(time);
      return events_.end(thread_track(slot, head.domain), time, record);
    case kMark:
      ++state_.events;
      return events_.begin(thread_track(slot, head.domain), EventType::kInstant, time, record);
    case kStart:
      if (record.id) async_.push_back({time, record, record.id->slot, head.domain, false});
      return;
    case kEnd: async_.push_back({time, record, head.text, head.domain, true}); return;
    case kEventBatch:
    case kEvent:
    case kClockTie: return defer(slot, record);
    default: counters_.waits(record) ? defer(slot, record) : counters_.add(record, time);
  }
}

void Drain::defer(uint32_t slot, const RecordView& record) {
  thread(slot);
  // Whatever names a thread by its id must find it, also after a death.
  if (spool_.empty()) {
    for (const auto& [tid, serial] : scopes_.threads()) spool_.add({serial, tid}, nullptr);
  }
  const ThreadSlot& shared = file_.slots()[slot];
  spool_.add({shared.serial, shared.tid}, &record);
}

void Drain::note_thread(const Origin& origin) {
  scopes_.know_thread(origin.tid, origin.serial);
  if (!spool_.empty()) spool_.add(origin, nullptr);
}

// Places the events and samples that have waited. First comes what tells their times.
bool Drain::write_deferred() {
  deferred_ = std::make_unique<DeferredEvents>(DeferredEvents::Parts{
      catalog_, timeline_, scopes_, part_, ids_, sequence_, uuids_.deferred_seed()});
  if (!spool_.flush()) return false;
  bool whole = spool_.read([this](const Origin& origin, const RecordView* record) {
    scopes_.know_thread(origin.tid, origin.serial);
    if (record && record->head->kind == kClockTie) timeline_.add_tie(*record);
  });
  timeline_.settle();
  whole = whole && spool_.read([this](const Origin& origin, const RecordView* record) {
    if (!record || record->head->kind == kClockTie) return;
    bool event = record->head->kind == kEvent || record->head->kind == kEventBatch;
    event ? deferred_->add(origin, *record) : counters_.add(*record, realtime(record->head->time));
  });
  if (whole) deferred_->finish();
  return whole;
}

void Drain::collect_late_ends() {
  if (file_.header().late_ends.load(std::memory_order_acquire) == 0) return;
  for (uint32_t slot = 0;; ++slot) {
    RangeSlot* range = find_range(file_, slot);
    if (!range) return;
    int64_t end = range->late_end.load(std::memory_order_acquire);
    if (end == 0) continue;
    async_.push_back({realtime(static_cast<uint64_t>(end)),
                      {},
                      slot,
                      range->domain.load(std::memory_order_relaxed),
                      true});
    taken_ends_.push_back(slot);
  }
}

void Drain::write_async() {
  // Of one lane no two events have one time, so the order among equals does not matter.
  std::stable_sort(async_.begin(), async_.end(),
                   [](const AsyncEvent& a, const AsyncEvent& b) { return a.time < b.time; });
  for (const AsyncEvent& event : async_) {
    PacketSequence& out = lane(event.slot, event.domain);
    if (!event.end) {
      ++state_.events;
      events_.begin(out, EventType::kSliceBegin, event.time, event.record);
    } else if (event.record.bytes) {
      events_.end(out, event.time, event.record);
    } else {
      out.end_slice(event.time);
    }
  }
}

Drain::Thread& Drain::thread(uint32_t slot) {
  Thread& found = threads_[slot];
  const ThreadSlot& shared = file_.slots()[slot];
  if (found.serial != shared.serial) {
    found.tracks.clear();
    found.serial = shared.serial;
    found.open = shared.open[file_.header().active.load(std::memory_order_relaxed)];
    note_thread({shared.serial, shared.tid});
  }
  return found;
}

PacketSequence& Drain::thread_track(uint32_t slot, uint32_t domain) {
  std::vector<std::unique_ptr<PacketSequence>>& tracks = thread(slot).tracks;
  uint64_t serial = file_.slots()[slot].serial;
  domain = std::min(domain, kMaxDomains - 1);
  if (tracks.size() <= domain) tracks.resize(domain + 1);
  auto& track = tracks[domain];
  if (!track) {
    track = std::make_unique<PacketSequence>(out_, uuids_.thread_domain(serial, domain), kRealtime);
  }
  return *track;
}

PacketSequence& Drain::lane(uint32_t slot, uint32_t domain) {
  auto& track = lanes_[uint64_t{slot} << 32 | domain];
  if (!track) {
    TrackDescription lane;
    lane.uuid = uuids_.lane(slot, domain);
    lane.parent = uuids_.process();
    std::string name = "start/end ranges";
    if (domain != 0) name = catalog_.domain(domain).name + " " + name;
    lane.name = name;
    describe_track(out_.bytes(), sequence_, lane);
    track = std::make_unique<PacketSequence>(out_, lane.uuid, kRealtime);
  }
  return *track;
}

bool Drain::commit() {
  state_.repaired_texts = std::max(state_.repaired_texts, events_.repaired_texts());
  if (!out_.flush() || part_.failed() || !spool_.flush()) return false;
  state_.part_size = part_.size();
  state_.spool_size = spool_.size();
  state_.next_sequence = ids_.next();
  state_.samples += counters_.samples;
  state_.bad_ids += counters_.bad_ids;
  state_.dropped += counters_.dropped;
  counters_.samples = counters_.bad_ids = counters_.dropped = 0;
  FileHeader& header = file_.header();
  uint32_t half = 1 - header.active.load(std::memory_order_relaxed);
  for (const auto& [index, cursor] : cursors_) {
    file_.slots()[index].consumed[half] = cursor;
    file_.slots()[index].open[half] = thread(index).open;
  }
  counters_.save(half);
  header.checkpoints[half] = state_;
  header.active.store(half, std::memory_order_release);
  for (uint32_t slot : ended_) {
    freed_slots_.push_back(slot);
    freed_chunks_.push_back(file_.slots()[slot].consumed[half].chunk - 1);
    threads_[slot].tracks.clear();
  }
  return true;
}

// The part will be cut back, so nothing of this pass has been said.
void Drain::forget() {
  out_.bytes().clear();
  for (Thread& one : threads_) one = Thread();
  lanes_.clear();
  scopes_.forget();
  deferred_.reset();
  counters_.forget();
  freed_chunks_.clear();
  freed_slots_.clear();
  taken_ends_.clear();
  state_ = counted(file_);
}

}  // namespace nvtx_perfetto::live
