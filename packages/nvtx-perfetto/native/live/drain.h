// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "live/catalog.h"
#include "live/counter_writer.h"
#include "live/deferred_events.h"
#include "live/definition.h"
#include "live/event_writer.h"
#include "live/live_file.h"
#include "live/part_file.h"
#include "live/range_table.h"
#include "live/scope_tracks.h"
#include "live/spool.h"
#include "live/timeline.h"
#include "live/track_uuids.h"
#include "perfetto/packet_buffer.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto::live {

// Moves what the threads have recorded from a live file into the part. One pass either
// counts as a whole or not at all: a checkpoint is switched once the packets are in the
// part, and a drain that comes after a death or a failed write cuts the part back to it.
// All passes of one process, and those after its death, are this class; it keeps nothing
// between passes that the live file does not hold too.
class Drain {
 public:
  Drain(LiveFile& file, PartFile& part);

  // False when the part could not be written; the records stay, and the next pass tries again.
  bool pass() { return run(false); }
  // The last pass: also describes all threads and adds the summary.
  bool finish() { return run(true); }

  // Why the last pass could not be written.
  const std::string& problem() const {
    return spool_.problem().empty() ? part_.problem() : spool_.problem();
  }
  // Once all is in the part.
  void remove_spool() { spool_.remove(); }
  void abandon_in_child() { spool_.abandon_in_child(); }

  // What the last successful pass has made free; only a live owner cares.
  const std::vector<uint32_t>& freed_chunks() const { return freed_chunks_; }
  const std::vector<uint32_t>& freed_slots() const { return freed_slots_; }
  const std::vector<uint32_t>& taken_ends() const { return taken_ends_; }

 private:
  struct Span {
    uint32_t slot;
    uint32_t chunk;
    uint32_t from;
    uint32_t to;
  };
  struct Thread {
    uint64_t serial = 0;  // 0: to be read from the file
    uint32_t open = 0;
    std::vector<std::unique_ptr<PacketSequence>> tracks;  // by domain
  };
  struct AsyncEvent {
    int64_t time;
    RecordView record;  // none for an end that waited in its slot
    uint32_t slot;
    uint32_t domain;
    bool end;
  };

  bool run(bool last);
  void write_preamble();
  void collect_spans();
  void collect_slot(uint32_t index, ThreadSlot& slot);
  void write_spans();
  void write_record(uint32_t slot, const RecordView& record);
  void defer(uint32_t slot, const RecordView& record);
  void note_thread(const Origin& origin);
  bool write_deferred();
  void collect_late_ends();
  void write_async();
  void describe_threads(bool last);
  void describe_thread(uint32_t index, ThreadSlot& slot);
  void describe_thread_track(const ThreadSlot& slot, const std::string& name);
  uint64_t tally(Tally kind) const;
  uint64_t total(Count count);
  uint64_t left_open();
  std::string settled_name(ThreadSlot& slot);
  void refresh_names();
  void write_summary();
  bool commit();
  void forget();

  Thread& thread(uint32_t slot);
  PacketSequence& thread_track(uint32_t slot, uint32_t domain);
  PacketSequence& lane(uint32_t slot, uint32_t domain);
  int64_t realtime(uint64_t boottime) const {
    return static_cast<int64_t>(boottime) + file_.header().realtime_offset;
  }

  LiveFile& file_;
  PartFile& part_;
  const bool same_boot_;  // the machine's clocks still count as they did
  const TrackUuids uuids_;
  SequenceIds ids_;
  PacketBuffer out_;
  const uint32_t sequence_;  // of descriptors and snapshots
  Catalog catalog_;
  DefinitionReader definitions_;
  EventWriter events_;
  Timeline timeline_;
  ScopeTracks scopes_;
  CounterWriter counters_;
  Checkpoint state_;
  Spool spool_;
  std::unique_ptr<DeferredEvents> deferred_;
  std::vector<Thread> threads_;
  std::unordered_map<uint64_t, std::unique_ptr<PacketSequence>> lanes_;
  std::vector<Span> spans_;
  std::vector<AsyncEvent> async_;
  std::vector<std::pair<uint32_t, Cursor>> cursors_;
  std::vector<uint32_t> ended_;
  std::vector<uint32_t> freed_chunks_;
  std::vector<uint32_t> freed_slots_;
  std::vector<uint32_t> taken_ends_;
};

}  // namespace nvtx_perfetto::live
