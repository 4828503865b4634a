// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "io/output_file.h"
#include "model/clock_plan.h"
#include "model/config.h"
#include "model/definition_log.h"
#include "model/domain.h"
#include "model/event_track.h"
#include "model/flow_table.h"
#include "model/handle_table.h"
#include "model/range_halves.h"
#include "model/status.h"
#include "model/stream.h"

namespace nvtx_perfetto {

// What makes a session's tracks its own.
struct SessionIdentity {
  uint64_t seed = 0;
  bool recovered = false;               // made from what a killed session of that seed left
  std::optional<HostTimes> host_times;  // that one's

  static SessionIdentity fresh();
};

// One NVTXW session: a file, and all that is registered and written on the way there.
class Session {
 public:
  Session(std::string name, SessionConfig config, HandleTable<Stream>& streams,
          SessionIdentity identity = SessionIdentity::fresh());
  ~Session();

  Status begin();
  // Registered domains by name, and the place for each one's handle.
  std::shared_ptr<Domain> domain(const std::string& name);
  // A domain of before, whose ids hold the serial.
  std::shared_ptr<Domain> restore_domain(const std::string& name, uint32_t serial);
  uint64_t& domain_handle(const std::string& name) { return domain_handles_[name]; }
  std::vector<uint64_t> domain_handles() const;
  Status open_stream(StreamSpec spec, std::shared_ptr<Stream>& stream);
  void opened(uint64_t handle);
  // From now on nothing is opened or registered here; for whoever holds mutex().
  void refuse_more() { ending_ = true; }
  bool ending() const { return ending_; }
  // Ends the session: places, pairs and writes what waited. kFailed when data was lost.
  Status end();
  // Why the output is not whole; empty when it is, and before the end.
  const std::string& output_error() const { return output_error_; }

  const std::vector<uint64_t>& stream_handles() const { return stream_handles_; }
  std::mutex& mutex() { return mutex_; }

  // For streams.
  Workshop shop() { return {tracks_, summary_, budget_, spill_, flows_}; }
  Sink& sink() { return sink_; }
  SequenceIds& sequence_ids() { return ids_; }
  ClockPlan& clocks() { return clocks_; }
  DefinitionLog& definitions() { return definitions_; }
  void defer_event(Stream& stream, const Row* rows, uint32_t count, uint64_t batch_scope);
  void defer_sample(Stream& stream, const Counter& counter, int64_t ticks, const uint8_t* sample,
                    uint32_t no_value);
  // A start or an end; ids are the session's, so ends may come from any stream.
  void keep_range_half(const RangeHalves::Half& half);
  // Samples of a scoped counter of differences, whichever streams they come from.
  void keep_shared_sample(Stream& stream, const Counter& counter, const Scope& scope,
                          ClockKey clock, int64_t time, const uint8_t* sample, uint32_t no_value);
  // Spills all that is kept; for whoever knows that nobody writes.
  void spill_all();
  // Spills whoever holds most.
  void relieve(Stream& caller);

 private:
  struct SharedCounter;

  void define_session();
  void write_header();
  void part_output_and_spill();
  bool go_over_to(ClockKey clock);
  void replay_deferred();
  void write_summary(int64_t time);
  Status report(const std::string& file_error);

  const std::string name_;
  const SessionConfig config_;
  const SessionIdentity identity_;
  HandleTable<Stream>& stream_table_;
  std::mutex mutex_;       // registration and life cycle
  std::mutex keep_mutex_;  // what several streams keep in one place
  // Growing the lists of streams and choosing one to spill. Whoever writes a stream may take
  // it, so nothing else is locked while it is held.
  std::mutex list_mutex_;
  OutputFile file_;
  SpillFile spill_;
  DefinitionLog definitions_{spill_};
  MemoryBudget budget_;
  Summary summary_;
  SequenceIds ids_{2};  // 1 is for descriptors
  TrackTree tracks_;
  DescribedSink sink_{tracks_, file_};
  FlowTable flows_;
  ClockPlan clocks_;
  PerfettoClock header_clock_ = kBoottime;
  bool header_written_ = false;
  bool ending_ = false;
  std::string output_error_;
  std::map<std::string, std::shared_ptr<Domain>> domains_;
  std::map<std::string, uint64_t> domain_handles_;
  std::vector<uint64_t> stream_handles_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::unordered_set<std::string> stream_names_;
  RunSorter deferred_;
  RangeHalves range_halves_;
  std::map<const Counter*, std::unique_ptr<SharedCounter>> shared_counters_;
};

}  // namespace nvtx_perfetto
