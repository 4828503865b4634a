// SPDX-License-Identifier: Apache-2.0
// Counter samples of a stream.
#include <algorithm>
#include <cstring>

#include "model/session.h"
#include "model/stream.h"

namespace nvtx_perfetto {

Status Stream::check_counter(uint64_t id, const Counter*& counter) {
  counter = spec_.domain->find_counter(id);
  if (counter) return Status::kOk;
  return fail(Status::kInvalid,
              "no counter " + std::to_string(id) + " in domain " + spec_.domain->shown_name());
}

// A counter's track lies under its scope, else under this stream.
CounterTracks& Stream::counter_tracks(const Counter& counter) {
  auto& slot = counters_[&counter];
  if (!slot) {
    const Scope* scope = spec_.domain->find_scope(counter.scope);
    bool own = scope && !scope->root;
    uint64_t parent = own ? session_.shop().tracks.scope(scope->path)
                          : track(spec_.scope, *spec_.domain->find_scope(spec_.scope)).track();
    // Other streams that feed a counter of a scope meet on its tracks there.
    uint32_t owner = own ? spec_.domain->serial() : number_;
    slot = std::make_unique<CounterTracks>(session_.shop(), out_, counter, parent,
                                           session_.clocks().written_clock(target_),
                                           counter_owner(counter, owner));
    slot->set_stream(number_);
  }
  return *slot;
}

// Whose ticks a counter's times are: those of its embedded time, its own, or the stream's.
Status Stream::sample_source(const Counter& counter, TimeSource& source) const {
  source = source_;
  uint64_t domain = counter.time_domain;
  if (counter.timestamp >= 0) {
    uint64_t own = counter.schema->entries[static_cast<size_t>(counter.timestamp)].time_domain;
    if (own != 0) domain = own;
  }
  if (domain == 0 || domain == spec_.time_domain) return Status::kOk;
  bool own;
  return find_source(domain, source, own);
}

Status Stream::sample_time(const Counter& counter, int64_t ticks, int64_t& time, bool& deferred) {
  TimeSource source;
  Status status = sample_source(counter, source);
  if (status != Status::kOk) return status;
  return placed(source, ticks, time, deferred) ? Status::kOk : unwritable(ticks);
}

void Stream::add_sample(const Counter& counter, int64_t time, const uint8_t* sample,
                        uint32_t no_value) {
  const Scope* scope = spec_.domain->find_scope(counter.scope);
  if (counter.deltas && scope && !scope->root) {
    newest_ = std::max(newest_, time);
    session_.keep_shared_sample(*this, counter, *scope, target_, time, sample, no_value);
    return;
  }
  add_own_sample(counter_tracks(counter), time, sample, no_value);
}

void Stream::add_own_sample(CounterTracks& into, int64_t time, const uint8_t* sample,
                            uint32_t no_value) {
  newest_ = std::max(newest_, time);
  bool in_order = time >= into.frontier();
  // Differences add up in time order, which a late sample would break for all that follow.
  if (passing_ && in_order && !into.counter().deltas) {
    no_value ? into.pass_no_value(time, static_cast<NoValue>(no_value - 1))
             : into.pass(time, sample);
    return;
  }
  if (passing_ && !in_order) break_claim();
  no_value ? into.keep_no_value(time, static_cast<NoValue>(no_value - 1)) : into.keep(time, sample);
  relieve();
}

Status Stream::write_sample(int64_t ticks, uint64_t id, const void* data, size_t size) {
  if (id == hot_counter_.id && data && size == hot_counter_.size) {
    int64_t time;
    if (!session_.clocks().place_direct(source_, ticks, time)) return unwritable(ticks);
    add_own_sample(*hot_counter_.tracks, time, static_cast<const uint8_t*>(data), 0);
    return Status::kOk;
  }
  const Counter* counter;
  Status status = check_counter(id, counter);
  if (status != Status::kOk) return status;
  if (!data || size != counter->sample_size) {
    return fail(Status::kInvalid, "a sample of " + counter->name + " takes " +
                                      std::to_string(counter->sample_size) + " bytes, not " +
                                      std::to_string(size));
  }
  int64_t time;
  bool deferred = false;
  status = sample_time(*counter, ticks, time, deferred);
  if (status != Status::kOk) return status;
  const auto* sample = static_cast<const uint8_t*>(data);
  if (deferred) {
    waits_ = true;
    session_.defer_sample(*this, *counter, ticks, sample, 0);
  } else {
    add_sample(*counter, time, sample, 0);
    remember(*counter);
  }
  return Status::kOk;
}

// Samples of one counter tend to follow one another; those on the stream's own clock and
// track can then do without looking anything up.
void Stream::remember(const Counter& counter) {
  TimeSource source;
  bool own_clock = direct_ && !settled_ && sample_source(counter, source) == Status::kOk &&
                   source.key == source_.key && source_.key == target_ &&
                   source.numerator == source_.numerator && source.offset == source_.offset &&
                   source.denominator == source_.denominator;
  auto tracks = counters_.find(&counter);
  if (own_clock && tracks != counters_.end()) {
    hot_counter_ = {counter.id, counter.sample_size, tracks->second.get()};
  }
}

Status Stream::write_no_value(int64_t ticks, uint64_t id, NoValue reason) {
  const Counter* counter;
  Status status = check_counter(id, counter);
  if (status != Status::kOk) return status;
  int64_t time;
  bool deferred = false;
  status = sample_time(*counter, ticks, time, deferred);
  if (status != Status::kOk) return status;
  uint32_t tag = 1 + static_cast<uint32_t>(reason);
  if (deferred) {
    waits_ = true;
    session_.defer_sample(*this, *counter, ticks, nullptr, tag);
  } else {
    add_sample(*counter, time, nullptr, tag);
  }
  return Status::kOk;
}

void Stream::replay_sample(const Counter& counter, int64_t ticks, const uint8_t* sample,
                           uint32_t no_value) {
  settled_ = true;
  if (target_ == kNoClock) target_ = session_.clocks().trace_clock();
  int64_t time;
  bool deferred = false;
  if (sample_time(counter, ticks, time, deferred) != Status::kOk) return;  // counted
  add_sample(counter, time, sample, no_value);
}

// Times that can stand in the file as they are, and do not decrease.
bool Stream::plain_times(const TimeSource& source, const CounterBatch& batch) const {
  bool as_given = direct_ && !settled_ && source.key == target_ && source.identity() &&
                  session_.clocks().time_offset() == 0;
  if (!as_given || !batch.ticks) return false;
  int64_t before = 0;
  bool good = true;
  for (size_t i = 0; i < batch.tick_count; ++i) {
    good = good && batch.ticks[i] >= before;
    before = batch.ticks[i];
  }
  return good && before != INT64_MAX;
}

Status Stream::check_counter_batch(const CounterBatch& batch, const Counter*& counter) {
  Status status = check_counter(batch.counter, counter);
  if (status != Status::kOk) return status;
  size_t stride = counter->sample_size;
  if (!batch.samples || batch.size % stride != 0) {
    return fail(Status::kInvalid, "a batch of " + std::to_string(batch.size) +
                                      " bytes does not hold whole samples of " +
                                      std::to_string(stride));
  }
  if (!batch.ticks && counter->timestamp < 0) {
    return fail(Status::kInvalid,
                "the counter " + counter->name + " embeds no time, so the batch needs timestamps");
  }
  if (batch.ticks && batch.tick_count != batch.size / stride) {
    return fail(Status::kInvalid, std::to_string(batch.size / stride) + " samples came with " +
                                      std::to_string(batch.tick_count) + " timestamps");
  }
  return Status::kOk;
}

Status Stream::write_counter_batch(const CounterBatch& batch) {
  const Counter* counter;
  Status status = check_counter_batch(batch, counter);
  if (status != Status::kOk || batch.size == 0) return status;
  TimeSource source;
  status = sample_source(*counter, source);
  if (status != Status::kOk) return status;
  size_t stride = counter->sample_size;
  if (passing_ && !counter->deltas && plain_times(source, batch)) {
    CounterTracks& into = counter_tracks(*counter);
    if (batch.ticks[0] >= into.frontier()) {
      newest_ = std::max(newest_, batch.ticks[batch.tick_count - 1]);
      into.pass_batch(batch.ticks, batch.tick_count, batch.samples, stride);
      return Status::kOk;
    }
  }
  add_counter_batch(batch, *counter, source);
  return Status::kOk;
}

void Stream::add_counter_batch(const CounterBatch& batch, const Counter& counter,
                               const TimeSource& source) {
  size_t stride = counter.sample_size;
  size_t count = batch.size / stride;
  const SchemaEntry* embedded =
      batch.ticks ? nullptr : &counter.schema->entries[static_cast<size_t>(counter.timestamp)];
  bool sorted = true;
  int64_t before = INT64_MIN;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* sample = batch.samples + i * stride;
    int64_t ticks =
        embedded ? load_integer(embedded->value, sample + embedded->offset) : batch.ticks[i];
    sorted = sorted && ticks >= before;
    before = ticks;
    int64_t time;
    bool deferred = false;
    if (!placed(source, ticks, time, deferred)) continue;  // counted
    if (deferred) {
      waits_ = true;
      session_.defer_sample(*this, counter, ticks, sample, 0);
    } else {
      add_sample(counter, time, sample, 0);
    }
  }
  if (!sorted && batch.order == BatchOrder::kSorted && spec_.ordering == Ordering::kUnknown) {
    session_.shop().summary.add(Count::kOrderBreaks);
  }
}

}  // namespace nvtx_perfetto
