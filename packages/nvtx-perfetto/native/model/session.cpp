// SPDX-License-Identifier: Apache-2.0
#include "model/session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "model/packed_event.h"
#include "perfetto/annotations.h"

namespace nvtx_perfetto {
namespace {

constexpr uint32_t kDescriptorSequence = 1;
constexpr char kSummaryName[] = "nvtx-perfetto summary";
// Sorters that several streams share spill at this size once memory is short.
constexpr size_t kLeastSpill = 64 << 10;

uint64_t random_seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

void spill_if_short(RunSorter& sorter, const MemoryBudget& budget) {
  if (budget.exceeded() && sorter.memory() >= kLeastSpill) sorter.spill();
}

// Deferred records: | stream | batch scope or counter | ticks | rows or sample ... |
struct Deferred {
  Stream* stream;
  uint64_t subject;
  int64_t ticks;
};
constexpr uint32_t kDeferredEvent = 0;
constexpr uint32_t kDeferredSample = 1;  // bits 4 and up: 1 + the reason it has no value

// Halves of ranges with ids: | track | first flow | rows ... |
struct RangeHalf {
  EventTrack* track;
  uint64_t first_flow;
};
constexpr uint32_t kStartBit = 1;
constexpr uint32_t kFlowsBit = 2;

}  // namespace

struct Session::SharedCounter {
  SharedCounter(Session& session, const Counter& counter, uint64_t parent, uint32_t clock)
      : out(session.sink_, session.ids_), tracks(session.shop(), out, counter, parent, clock) {}
  PacketBuffer out;
  CounterTracks tracks;
};

Session::Session(std::string name, SessionConfig config, HandleTable<Stream>& streams)
    : name_(std::move(name)), config_(std::move(config)), stream_table_(streams),
      spill_(folder_of(config_.output)), budget_(config_.memory),
      tracks_(file_, kDescriptorSequence, random_seed(), name_.empty() ? "session" : name_),
      flows_(budget_, spill_, summary_),
      clocks_({config_.host_snapshot, config_.unrelated_clocks, config_.time_offset}, summary_),
      deferred_(budget_, spill_), range_halves_(budget_, spill_) {}

Session::~Session() = default;

Status Session::begin() {
  if (!config_.problem.empty()) return fail(Status::kInvalid, config_.problem);
  OutputFile::Options options;
  options.overwrite = config_.overwrite;
  options.max_size = config_.max_size;
  std::string problem = file_.open(config_.output, options);
  return problem.empty() ? Status::kOk : fail(Status::kFailed, problem);
}

std::shared_ptr<Domain> Session::domain(const std::string& name) {
  auto& slot = domains_[name];
  if (!slot) slot = std::make_shared<Domain>(name);
  return slot;
}

std::vector<uint64_t> Session::domain_handles() const {
  std::vector<uint64_t> handles;
  for (const auto& [name, handle] : domain_handles_) handles.push_back(handle);
  return handles;
}

// The file starts with the trace's clock. It is known once a stream opens, and may change
// once more, to REALTIME.
void Session::write_header() {
  PerfettoClock clock = clocks_.written_clock(clocks_.trace_clock());
  if (header_written_ && clock == header_clock_) return;
  ByteBuffer packets;
  add_header(packets, kDescriptorSequence, clock);
  if (header_written_) {
    file_.patch_start(packets.data(), packets.size());
  } else {
    if (config_.host_snapshot) add_host_snapshot(packets, kDescriptorSequence);
    file_.append(packets.data(), packets.size());
  }
  header_written_ = true;
  header_clock_ = clock;
}

Status Session::open_stream(StreamSpec spec, std::shared_ptr<Stream>& stream) {
  auto number = static_cast<uint32_t>(streams_.size());
  if (spec.name.empty()) {
    spec.name = "stream " + std::to_string(number);
  } else if (stream_names_.count(spec.name)) {
    return fail(Status::kInvalid,
                "the session has a stream " + spec.name + " already; stream names must differ");
  }
  if (!spec.domain->find_scope(spec.scope)) {
    return fail(Status::kInvalid, "no scope " + std::to_string(spec.scope) + " in domain " +
                                      spec.domain->shown_name());
  }
  auto opened = std::make_shared<Stream>(*this, spec, number);
  TimeSource source;
  bool own = false;
  Status status = opened->find_source(spec.time_domain, source, own);
  if (status != Status::kOk) return status;
  std::string problem;
  ClockPlan::Verdict verdict = clocks_.admit(source.key, own, problem);
  if (verdict == ClockPlan::Verdict::kRefused) return fail(Status::kInvalid, problem);
  opened->set_verdict(verdict, source.key);
  if (verdict == ClockPlan::Verdict::kDirect) write_header();
  stream_names_.insert(spec.name);
  std::lock_guard<std::mutex> lock(list_mutex_);
  streams_.push_back(opened);
  stream = opened;
  return Status::kOk;
}

void Session::opened(uint64_t handle) {
  std::lock_guard<std::mutex> lock(list_mutex_);
  stream_handles_.push_back(handle);
}

void Session::relieve(Stream& caller) {
  uint64_t largest = 0;
  size_t most = std::max<size_t>(caller.memory(), 1);
  {
    std::lock_guard<std::mutex> lock(list_mutex_);
    for (size_t i = 0; i < streams_.size() && i < stream_handles_.size(); ++i) {
      if (streams_[i].get() != &caller && streams_[i]->memory() > 2 * most) {
        most = streams_[i]->memory();
        largest = stream_handles_[i];
      }
    }
  }
  if (largest != 0) {
    // Whoever writes there right now relieves itself.
    if (auto other = stream_table_.try_lock(largest)) {
      other->spill();
      return;
    }
  }
  caller.spill();
}

void Session::defer_event(Stream& stream, const Row* rows, uint32_t count, uint64_t batch_scope) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  Deferred head{&stream, batch_scope, 0};
  uint8_t* at = deferred_.add(0, 0, kDeferredEvent | count << 8,
                              sizeof(head) + packed_rows_size(rows, count));
  std::memcpy(at, &head, sizeof(head));
  pack_rows(at + sizeof(head), rows, count);
  spill_if_short(deferred_, budget_);
}

void Session::defer_sample(Stream& stream, const Counter& counter, int64_t ticks,
                           const uint8_t* sample, uint32_t no_value) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  Deferred head{&stream, reinterpret_cast<uintptr_t>(&counter), ticks};
  size_t size = no_value ? 0 : counter.sample_size;
  uint8_t* at = deferred_.add(0, 0, kDeferredSample | no_value << 4, sizeof(head) + size);
  std::memcpy(at, &head, sizeof(head));
  if (size) std::memcpy(at + sizeof(head), sample, size);
  spill_if_short(deferred_, budget_);
}

void Session::replay_deferred() {
  std::vector<Row> rows;
  deferred_.drain([&](const Record& record) {
    Deferred head;
    std::memcpy(&head, record.bytes, sizeof(head));
    const uint8_t* rest = record.bytes + sizeof(head);
    if ((record.head.tag & 0xF) == kDeferredEvent) {
      rows.clear();
      unpack_rows(rest, record.head.tag >> 8, rows);
      head.stream->replay_event(rows.data(), static_cast<uint32_t>(rows.size()), head.subject);
    } else {
      const auto& counter = *reinterpret_cast<const Counter*>(head.subject);
      head.stream->replay_sample(counter, head.ticks, rest, record.head.tag >> 4);
    }
  });
  if (deferred_.lost()) summary_.add(Count::kDroppedByError, deferred_.lost());
}

void Session::keep_range_half(bool start, uint64_t id, int64_t time, EventTrack& track,
                              const Row* rows, uint32_t count, bool has_flows,
                              uint64_t first_flow) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  RangeHalf head{&track, first_flow};
  uint32_t tag = (start ? kStartBit : 0) | (has_flows ? kFlowsBit : 0) | count << 8;
  uint8_t* at = range_halves_.add(static_cast<int64_t>(id), time, tag,
                                  sizeof(head) + packed_rows_size(rows, count));
  std::memcpy(at, &head, sizeof(head));
  pack_rows(at + sizeof(head), rows, count);
  spill_if_short(range_halves_, budget_);
}

// Starts and ends of one id alternate in time; the range is its start's stream's.
void Session::pair_range_halves() {
  uint64_t id = 0;
  int64_t begin = 0;
  uint32_t start_tag = 0;
  std::vector<uint8_t> start;  // empty: none is open
  std::vector<Row> rows;
  auto keep = [&](int64_t end, const Record* closing) {
    RangeHalf head;
    std::memcpy(&head, start.data(), sizeof(head));
    Event event;
    event.begin = begin;
    event.end = end;
    event.shape = Shape::kAsync;
    event.has_flows = (start_tag & kFlowsBit) != 0;
    event.first_flow = head.first_flow;
    event.row_count = start_tag >> 8;
    event.pop_row_count = closing ? closing->head.tag >> 8 : 0;
    rows.clear();
    unpack_rows(start.data() + sizeof(head), event.row_count, rows);
    if (closing) unpack_rows(closing->bytes + sizeof(head), event.pop_row_count, rows);
    event.rows = rows.data();
    event.pop_rows = rows.data() + event.row_count;
    head.track->keep(event);
    if (budget_.exceeded()) head.track->spill();
    start.clear();
  };
  range_halves_.drain([&](const Record& record) {
    auto next_id = static_cast<uint64_t>(record.head.first);
    bool opens = (record.head.tag & kStartBit) != 0;
    if (!start.empty() && (next_id != id || opens)) keep(kNeverEnds, nullptr);
    id = next_id;
    if (opens) {
      begin = record.head.second;
      start_tag = record.head.tag;
      start.assign(record.bytes, record.bytes + record.head.size);
    } else if (start.empty()) {
      summary_.add(Count::kUnmatchedEnds);
    } else {
      keep(record.head.second, &record);
    }
  });
  if (!start.empty()) keep(kNeverEnds, nullptr);
  if (range_halves_.lost()) summary_.add(Count::kDroppedByError, range_halves_.lost());
}

void Session::keep_shared_sample(const Counter& counter, const Scope& scope, uint32_t clock,
                                 int64_t time, const uint8_t* sample, uint32_t no_value) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  auto& slot = shared_counters_[&counter];
  if (!slot) {
    slot = std::make_unique<SharedCounter>(*this, counter, tracks_.scope(scope.path), clock);
  }
  no_value ? slot->tracks.keep_no_value(time, static_cast<NoValue>(no_value - 1))
           : slot->tracks.keep(time, sample);
  if (budget_.exceeded() && slot->tracks.memory() >= kLeastSpill) slot->tracks.spill();
}

void Session::write_summary(int64_t time) {
  // The names must outlive the sequence that interns them by address. They are never freed:
  // at exit, sessions may end after static objects went.
  static const auto& kGroup = *new std::string("summary");
  static const auto& kOffset = *new std::string("time_offset_ns");
  static const auto& kNames = *[] {
    auto* names = new std::vector<std::string>;
    for (size_t i = 0; i < static_cast<size_t>(Count::kCount); ++i) {
      names->emplace_back(count_name(static_cast<Count>(i)));
    }
    return names;
  }();
  PacketBuffer out(sink_, ids_);
  PacketSequence packets(out, tracks_.add_root(kSummaryName),
                         clocks_.written_clock(clocks_.trace_clock()));
  packets.open(EventType::kInstant, time);
  packets.add_name(packets.name_of_text(kSummaryName));
  AnnotationWriter writer(packets);
  writer.open_dict(&kGroup);
  for (size_t i = 0; i < kNames.size(); ++i) {
    uint64_t much = summary_.get(static_cast<Count>(i));
    if (much) writer.add(&kNames[i], much);
  }
  if (config_.time_offset) writer.add(&kOffset, config_.time_offset);
  writer.close_nested();
  packets.close();
  out.flush();
}

Status Session::report(const std::string& file_error) {
  std::string problem = file_error.empty() ? spill_.error() : file_error;
  for (size_t i = 0; i < static_cast<size_t>(Count::kCount); ++i) {
    auto count = static_cast<Count>(i);
    if (!is_loss(count) || summary_.get(count) == 0) continue;
    problem += (problem.empty() ? "" : "; ") + std::to_string(summary_.get(count)) + " " +
               count_name(count);
  }
  if (problem.empty()) return Status::kOk;
  if (summary_.get(Count::kDroppedTimes)) {
    problem += " (times before 0 need time_offset)";
  }
  std::fprintf(stderr, "nvtx-perfetto: data of session %s was lost: %s\n", name_.c_str(),
               problem.c_str());
  return fail(Status::kFailed, problem);
}

Status Session::end() {
  clocks_.settle();
  write_header();
  replay_deferred();
  if (!flows_.resolve()) summary_.add(Count::kDroppedByError);
  pair_range_halves();
  int64_t newest = 0;
  for (auto& stream : streams_) {
    newest = std::max(newest, stream->newest());
    stream->finish();
  }
  for (auto& [counter, shared] : shared_counters_) {
    shared->tracks.flush();
    shared->out.flush();
  }
  shared_counters_.clear();
  if (budget_.runs()) summary_.add(Count::kSpilledRuns, budget_.runs());
  tracks_.flush();
  write_summary(newest);
  tracks_.flush();
  streams_.clear();
  return report(file_.close());
}

}  // namespace nvtx_perfetto
