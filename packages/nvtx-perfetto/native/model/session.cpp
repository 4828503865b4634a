// SPDX-License-Identifier: Apache-2.0
#include "model/session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "model/packed_event.h"
#include "model/waiting_records.h"
#include "perfetto/annotations.h"

namespace nvtx_perfetto {
namespace {

constexpr uint32_t kDescriptorSequence = 1;
constexpr char kSummaryName[] = "nvtx-perfetto summary";

}  // namespace

struct Session::SharedCounter {
  SharedCounter(Session& session, const Stream& stream, const Counter& counter, uint64_t parent,
                ClockKey key)
      : clock(key), out(session.sink_, session.ids_),
        tracks(session.shop(), out, counter, parent, session.clocks_.written_clock(key),
               counter_owner(counter, stream.domain().serial())) {
    tracks.set_stream(stream.number());
  }
  const ClockKey clock;
  PacketBuffer out;
  CounterTracks tracks;
};

SessionIdentity SessionIdentity::fresh() {
  std::random_device device;
  SessionIdentity identity;
  identity.seed = uint64_t{device()} << 32 | device();
  return identity;
}

Session::Session(std::string name, SessionConfig config, HandleTable<Stream>& streams,
                 SessionIdentity identity)
    : name_(std::move(name)), config_(std::move(config)), identity_(std::move(identity)),
      stream_table_(streams), spill_(folder_of(config_.output)), budget_(config_.memory),
      tracks_(file_, kDescriptorSequence, identity_.seed, name_.empty() ? "session" : name_,
              identity_.recovered),
      flows_(budget_, spill_, summary_),
      clocks_({config_.host_snapshot, config_.unrelated_clocks, config_.time_offset}, summary_),
      deferred_(budget_, spill_), range_halves_(budget_, spill_, summary_) {
  deferred_.set_label({SpillKind::kDeferred, 0, 0});
  range_halves_.set_label({SpillKind::kRangeHalves, 0, 0});
  spill_.set_preface([this] { definitions_.save(); });
}

Session::~Session() = default;

Status Session::begin() {
  if (!config_.problem.empty()) return fail(Status::kInvalid, config_.problem);
  OutputFile::Options options;
  options.overwrite = config_.overwrite;
  options.max_size = config_.max_size;
  std::string problem = file_.open(config_.output, options);
  if (!problem.empty()) return fail(Status::kFailed, problem);
  // Nobody looks beside a device, nor for what a recovery sorts.
  if (file_.regular() && !identity_.recovered) define_session();
  return Status::kOk;
}

void Session::define_session() {
  spill_.name_after(config_.output);
  SessionFacts facts{config_.time_offset, config_.max_size, config_.memory, config_.host_snapshot,
                     config_.unrelated_clocks};
  definitions_.add(DefinitionKind::kSession, 0, identity_.seed, facts, name_);
}

std::shared_ptr<Domain> Session::domain(const std::string& name) {
  auto& slot = domains_[name];
  if (!slot) {
    slot = std::make_shared<Domain>(name);
    definitions_.add_domain(*slot);
  }
  return slot;
}

std::shared_ptr<Domain> Session::restore_domain(const std::string& name, uint32_t serial) {
  auto& slot = domains_[name];
  if (!slot) slot = std::make_shared<Domain>(name, serial);
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
    // A pipe has passed the first clock on. Times stay right: the snapshots tie the clocks.
    if (!file_.patch_start(packets.data(), packets.size())) summary_.add(Count::kClockKept);
  } else {
    add_trace_uuid(packets, kDescriptorSequence, identity_.seed);
    if (config_.host_snapshot) {
      HostTimes times = identity_.host_times ? *identity_.host_times : HostTimes::now();
      clocks_.add_host_times(times);
      add_host_snapshot(packets, kDescriptorSequence, times);
      definitions_.add(DefinitionKind::kHostTimes, 0, 0,
                       {reinterpret_cast<const char*>(&times), sizeof(times)});
    }
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
  bool leads = verdict == ClockPlan::Verdict::kDeferred && spec.may_lead && go_over_to(source.key);
  if (leads) verdict = ClockPlan::Verdict::kDirect;
  opened->set_verdict(verdict, source.key);
  if (verdict == ClockPlan::Verdict::kDirect) write_header();
  StreamFacts facts{spec.scope, spec.time_domain, opened->may_pass(), leads};
  definitions_.add(DefinitionKind::kStream, spec.domain->serial(), number, facts, spec.name);
  stream_names_.insert(spec.name);
  std::lock_guard<std::mutex> lock(list_mutex_);
  streams_.push_back(opened);
  stream = opened;
  return Status::kOk;
}

// Puts the trace on a clock that outranks its first, which it can be as long as nothing stands on
// that one.
bool Session::go_over_to(ClockKey clock) {
  if (!clocks_.outranks(clock)) return false;
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (i >= stream_handles_.size()) return false;
    // A closed stream cannot be locked, and nobody else uses it.
    auto open = stream_table_.lock(stream_handles_[i]);
    if (!streams_[i]->wait_for_ties()) return false;
  }
  clocks_.lead(clock);
  return true;
}

void Session::opened(uint64_t handle) {
  std::lock_guard<std::mutex> lock(list_mutex_);
  stream_handles_.push_back(handle);
}

void Session::relieve(Stream& caller) {
  uint64_t largest = 0;
  // A few rows of another stream free next to nothing, and keep it from being written as it comes.
  size_t most = std::max(caller.memory(), RunSorter::kLeastSpill / 2);
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
  // A stream that is written as it comes would stop being so for next to nothing.
  if (!caller.may_pass() || caller.memory() >= RunSorter::kLeastSpill) caller.spill();
}

void Session::defer_event(Stream& stream, const Row* rows, uint32_t count, uint64_t batch_scope) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  DeferredHead head{stream.number(), batch_scope, 0};
  uint8_t* at = deferred_.add(0, 0, DeferredHead::kEvent | count << DeferredHead::kRowsShift,
                              sizeof(head) + packed_rows_size(rows, count));
  std::memcpy(at, &head, sizeof(head));
  pack_rows(at + sizeof(head), rows, count);
  deferred_.spill_if_short();
}

void Session::defer_sample(Stream& stream, const Counter& counter, int64_t ticks,
                           const uint8_t* sample, uint32_t no_value) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  DeferredHead head{stream.number(), counter.id, ticks};
  size_t size = no_value ? 0 : counter.sample_size;
  uint32_t tag = DeferredHead::kSample | no_value << DeferredHead::kNoValueShift;
  uint8_t* at = deferred_.add(0, 0, tag, sizeof(head) + size);
  std::memcpy(at, &head, sizeof(head));
  if (size) std::memcpy(at + sizeof(head), sample, size);
  deferred_.spill_if_short();
}

void Session::replay_deferred() {
  std::vector<Row> rows;
  deferred_.drain([&](const Record& record) {
    DeferredHead head;
    std::memcpy(&head, record.bytes, sizeof(head));
    const uint8_t* rest = record.bytes + sizeof(head);
    uint32_t tag = record.head.tag;
    Stream& stream = *streams_[head.stream];
    if ((tag & DeferredHead::kKindBits) == DeferredHead::kEvent) {
      rows.clear();
      unpack_rows(rest, tag >> DeferredHead::kRowsShift, stream.domain(), rows);
      stream.replay_event(rows.data(), static_cast<uint32_t>(rows.size()), head.subject);
    } else {
      stream.replay_sample(*stream.domain().find_counter(head.subject), head.ticks, rest,
                           tag >> DeferredHead::kNoValueShift);
    }
  });
  if (deferred_.lost()) summary_.add(Count::kDroppedByError, deferred_.lost());
}

void Session::keep_range_half(const RangeHalves::Half& half) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  range_halves_.keep(half);
}

void Session::keep_shared_sample(Stream& stream, const Counter& counter, const Scope& scope,
                                 ClockKey clock, int64_t time, const uint8_t* sample,
                                 uint32_t no_value) {
  std::lock_guard<std::mutex> lock(keep_mutex_);
  auto& slot = shared_counters_[&counter];
  if (!slot) {
    uint64_t parent = tracks_.scope(scope.path);
    slot = std::make_unique<SharedCounter>(*this, stream, counter, parent, clock);
  }
  if (!clocks_.carry(clock, slot->clock, time)) {
    summary_.add(Count::kDroppedUntied);
    return;
  }
  no_value ? slot->tracks.keep_no_value(time, static_cast<NoValue>(no_value - 1))
           : slot->tracks.keep(time, sample);
  slot->tracks.spill_if_short();
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

void Session::spill_all() {
  for (auto& stream : streams_) stream->spill();
  deferred_.spill();
  range_halves_.spill();
  for (auto& [counter, shared] : shared_counters_) shared->tracks.spill();
}

// What must wait is made whole for others, should this process be killed from here on: they
// drop what the output holds beyond this point and write all of it anew.
void Session::part_output_and_spill() {
  for (auto& stream : streams_) stream->close();
  spill_all();
  int64_t at = spill_.allocate(0, {SpillKind::kEnding, 0, file_.size()});
  if (at >= 0) spill_.finish(at);
}

Status Session::end() {
  if (spill_.named() && spill_.made()) part_output_and_spill();
  spill_.stop_naming();
  clocks_.settle();
  write_header();
  replay_deferred();
  if (!flows_.resolve()) summary_.add(Count::kDroppedByError);
  range_halves_.pair();
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
  output_error_ = file_.close();
  spill_.remove();
  return report(output_error_);
}

}  // namespace nvtx_perfetto
