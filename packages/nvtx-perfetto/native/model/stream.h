// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/clock_plan.h"
#include "model/counter_tracks.h"
#include "model/domain.h"
#include "model/event_shape.h"
#include "model/event_track.h"
#include "model/status.h"

namespace nvtx_perfetto {

struct EventRoles;
class Session;

enum class Ordering : uint8_t { kUnknown, kStrict, kRangeStart, kRangeEnd };

struct StreamSpec {
  bool may_lead = true;  // the trace may go over to this stream's clock
  std::string name;
  const Domain* domain = nullptr;
  uint64_t scope = 0;
  uint64_t time_domain = 0;
  bool per_scope = false;  // the claim holds within each scope only
  Ordering ordering = Ordering::kUnknown;
  bool partly = false;    // the claim allows for skid
  bool has_rows = false;  // of a session before, on its own tracks
};

// Which claim a batch makes for its rows.
enum class BatchOrder : uint8_t { kSorted, kPartly, kPerScope, kUnsorted };

// One stream of a writer session: events and counter samples of one domain. Calls on one
// stream exclude one another (by the handle table's lock).
class Stream {
 public:
  Stream(Session& session, StreamSpec spec, uint32_t number);

  Status write_event(const Row* rows, uint32_t count);
  // The same for a row of a batch that says its scope (or 0).
  Status write_row(const Row* rows, uint32_t count, uint64_t batch_scope);
  Status write_event_batch(const Schema& schema, const uint8_t* events, size_t size, uint64_t scope,
                           BatchOrder order);
  Status write_sample(int64_t ticks, uint64_t counter, const void* data, size_t size);
  Status write_no_value(int64_t ticks, uint64_t counter, NoValue reason);
  struct CounterBatch {
    uint64_t counter;
    const uint8_t* samples;
    size_t size;
    const int64_t* ticks;  // null: embedded in the samples
    size_t tick_count;
    BatchOrder order;
  };
  Status write_counter_batch(const CounterBatch& batch);

  // Sync points or a factor between two time domains of this stream's domain.
  Status tie_clocks(uint64_t first, uint64_t second, const nvtxSyncPoint_t* points, size_t count);
  Status tie_clocks(uint64_t from, uint64_t to, double slope, const nvtxSyncPoint_t& anchor);

  const Domain& domain() const { return *spec_.domain; }
  const std::string& name() const { return spec_.name; }
  uint32_t number() const { return number_; }
  // Whether rows may be written before others have come.
  bool may_pass() const { return passing_; }
  // The source of a time domain id as this stream's domain knows it.
  Status find_source(uint64_t time_domain, TimeSource& source, bool& own) const;

  // A sample at the file's time; `no_value`: 0, or 1 + why it has none.
  void add_sample(const Counter& counter, int64_t time, const uint8_t* sample, uint32_t no_value);

  // Writes what need not wait for the session's end, and gives back its memory.
  void close();
  // Writes all that is left.
  void finish();
  // Hands over what could not be placed in time until the session's end.
  void replay_event(const Row* rows, uint32_t count, uint64_t batch_scope);
  void replay_sample(const Counter& counter, int64_t ticks, const uint8_t* sample,
                     uint32_t no_value);

  size_t memory() const { return memory_.load(std::memory_order_relaxed); }
  void spill();
  int64_t newest() const { return newest_; }
  bool waits() const { return waits_; }
  void set_verdict(ClockPlan::Verdict verdict, ClockKey key);
  // From now on times wait for the session's end, if they do not already; false once some stand
  // on the stream's own clock.
  bool wait_for_ties();

 private:
  struct Times {
    int64_t begin = 0;
    int64_t end = 0;
    bool deferred = false;
  };

  EventTrack& track(uint64_t scope_id, const Scope& scope);
  EventTrack& track_of(const Row* rows, uint32_t count, uint64_t batch_scope, bool& bad_scope);
  EventTrack& track_for(const Row* rows, uint32_t count, uint64_t batch_scope);
  EventTrack& new_track(uint64_t parent);
  CounterTracks& counter_tracks(const Counter& counter);
  Status place_times(const EventRoles& roles, Times& times);
  Status load_time(const Row& row, int entry, int64_t& time, bool& deferred);
  bool place_own(int64_t ticks, int64_t& time) const;
  bool placed(const TimeSource& source, int64_t ticks, int64_t& time, bool& deferred);
  Status add_event(const EventRoles& roles, const Row* rows, uint32_t count, EventTrack& into,
                   const Times& times, uint64_t batch_scope);
  Status write_shaped(const Row* rows, uint32_t count);
  static Status ends_early(const Event& event);
  void add_half(EventTrack& into, const Event& event, bool push);
  void add_complete(EventTrack& into, const Event& event, bool alone);
  bool keeps_claim(EventTrack& into, int64_t begin, int64_t end);
  bool simple_batch(const Schema& schema) const;
  void add_simple_batch(const Schema& schema, const uint8_t* events, size_t count, EventTrack& into,
                        uint64_t scope);
  void check_batch_claim(const Schema& schema, const uint8_t* events, size_t count);
  void break_claim();
  void stop_passing() { passing_ = false; }
  bool in_spill_file();
  void relieve();
  void note_memory();
  void add_own_sample(CounterTracks& into, int64_t time, const uint8_t* sample, uint32_t no_value);
  void remember(const Counter& counter);
  bool plain_times(const TimeSource& source, const CounterBatch& batch) const;
  Status check_counter_batch(const CounterBatch& batch, const Counter*& counter);
  void add_counter_batch(const CounterBatch& batch, const Counter& counter,
                         const TimeSource& source);
  static Status unwritable(int64_t ticks);
  Status sample_source(const Counter& counter, TimeSource& source) const;
  Status sample_time(const Counter& counter, int64_t ticks, int64_t& time, bool& deferred);
  Status check_counter(uint64_t id, const Counter*& counter);

  Session& session_;
  const StreamSpec spec_;
  const uint32_t number_;
  PacketBuffer out_;
  EventEmitter emitter_;
  TimeSource source_;
  ClockKey target_ = kNoClock;
  bool direct_ = true;
  bool plain_ = true;  // direct, in nanoseconds
  bool settled_ = false;
  bool passing_ = false;  // the claim is kept: in-order events are written at once
  bool claim_broken_ = false;
  bool waits_ = false;  // something must wait for the session's end
  bool finished_ = false;
  int64_t claimed_ = INT64_MIN;
  int64_t newest_ = 0;
  std::atomic<size_t> memory_{0};
  std::unordered_map<uint64_t, EventTrack*> by_scope_;
  std::map<uint64_t, std::unique_ptr<EventTrack>> by_parent_;
  std::vector<EventTrack*> tracks_;
  EventTrack* default_track_ = nullptr;
  EventShape shape_;  // of the last single event
  struct {
    uint64_t id;
    size_t size;
    CounterTracks* tracks;
  } hot_counter_ = {0, 0, nullptr};  // of the last single sample
  std::unordered_map<const Counter*, std::unique_ptr<CounterTracks>> counters_;
};

}  // namespace nvtx_perfetto
