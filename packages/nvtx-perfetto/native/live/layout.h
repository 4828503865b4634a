// SPDX-License-Identifier: Apache-2.0
// What lies in a live file: the shared memory in which the threads of one process image record,
// good for a drain by any process once its owner has died.
//
//   | FileHeader | kMaxThreads ThreadSlots | kMaxCounterStates CounterStates | chunk 0 | chunk 1 |
//   ...
//
// A chunk belongs to a thread's records, to the definitions, to the open ranges, or to nobody.
// Only the live process cares which are free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvtx_perfetto::live {

constexpr char kMagic[8] = {'N', 'V', 'T', 'X', 'L', 'I', 'V', 'E'};
constexpr uint32_t kLayoutVersion = 3;

constexpr size_t kPage = 4096;
constexpr size_t kChunkSize = 256 << 10;
constexpr uint32_t kMaxThreads = 1024;  // recording at the same time
constexpr uint32_t kMaxDomains = 1024;
constexpr uint32_t kMaxCounterStates = 4096;  // counters and fields of counter groups
constexpr uint32_t kMaxRangeChunks = 64;
constexpr size_t kMaxText = 64 << 10;    // bytes of a message or payload; the rest is cut
constexpr size_t kMaxExtra = 128 << 10;  // bytes of all payloads of one event

static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared memory needs lock-free atomics");

// What the producing side counts, by thread.
enum class Tally : uint8_t {
  kDropped,  // events that found no room
  kUnmatchedPop,
  kInheritedPop,  // pops of ranges that were open when the process forked
  kUnknownEnd,
  kBadHandle,
  kCut,          // messages and payloads over kMaxText
  kReentered,    // calls from a signal handler that interrupted a call
  kUnsupported,  // calls that are accepted and have no meaning here
  kRefused,      // definitions that found no room
  kCount
};
constexpr size_t kTallies = static_cast<size_t>(Tally::kCount);

struct Cursor {
  uint32_t chunk;   // index + 1; 0: none
  uint32_t offset;  // bytes from the chunk's start
};

enum SlotState : uint32_t { kSlotFree, kSlotClaimed, kSlotLive, kSlotEnded };

// One recording thread. Written by the thread, but for `seen_name`, `consumed` and `open`.
struct alignas(64) ThreadSlot {
  std::atomic<uint32_t> state;
  int32_t tid;
  uint64_t serial;  // never used twice in a process image
  char own_name[32];
  char seen_name[32];  // the OS's name, as last looked up by the drain
  std::atomic<uint64_t> tallies[kTallies];
  std::atomic<uint64_t> domains[kMaxDomains / 64];  // where this thread has pushed or marked
  Cursor consumed[2];
  uint32_t open[2];  // ranges that are open where `consumed` is
};

struct ChunkHeader {
  std::atomic<uint32_t> committed;  // bytes in use, the header included
  std::atomic<uint32_t> next;       // index + 1 of the chunk that goes on; 0: this one is the last
  uint64_t unused;
};
constexpr uint32_t kChunkStart = 64;  // where a chunk's records begin, on a line of their own
static_assert(sizeof(ChunkHeader) <= kChunkStart);

// A process-wide range while it is open. Its place says which lane it is drawn on.
struct RangeSlot {
  std::atomic<uint32_t> generation;  // odd while open
  std::atomic<uint32_t> domain;
  std::atomic<int64_t> last_end;  // boottime ns
  std::atomic<int64_t> late_end;  // an end for which there was no room elsewhere; 0: none
  uint64_t unused;
};
constexpr uint32_t kRangesPerChunk = (kChunkSize - kChunkStart) / sizeof(RangeSlot);

// The running value of one counter field.
struct CounterState {
  struct Value {
    double number;
    int64_t integer;
    uint64_t seen;  // samples so far
  };
  Value value[2];
};

// The machine's clocks at one moment, in ns, and the processor's counter.
struct ClockReading {
  int64_t boottime;
  int64_t monotonic;
  int64_t monotonic_raw;
  int64_t ticks;
};

// How far a drain has come. There are two, written in turn: what the inactive one says
// counts for nothing, so that a death in the middle of a drain neither loses nor doubles an event.
struct Checkpoint {
  uint64_t part_size;
  uint64_t spool_size;
  uint32_t next_sequence;
  uint32_t unused;
  uint64_t events;
  uint64_t samples;
  uint64_t repaired_texts;
  uint64_t bad_ids;
  uint64_t left_open;  // ranges of threads that have ended
  uint64_t dropped;    // samples whose times cannot be written
  ClockReading clocks;
};

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t chunk_limit;
  int32_t pid;
  int32_t parent;
  uint64_t seed;            // of track ids
  int64_t realtime_offset;  // REALTIME minus BOOTTIME, ns
  int64_t process_start;    // REALTIME ns; 0: unknown
  ClockReading first_clocks;
  char boot_id[40];
  char host[72];
  char process_name[256];
  char label[64];
  std::atomic<uint32_t> active;       // which checkpoint, and which half of all pairs, counts
  std::atomic<uint32_t> definitions;  // first chunk of definitions, index + 1
  std::atomic<uint32_t> range_chunks[kMaxRangeChunks];  // index + 1
  std::atomic<uint32_t> late_ends;
  std::atomic<uint64_t> tallies[kTallies];  // of threads that are gone or found no slot
  Checkpoint checkpoints[2];
};
static_assert(sizeof(FileHeader) <= kPage);

constexpr size_t kSlotsStart = kPage;
constexpr size_t kCountersStart = kSlotsStart + kMaxThreads * sizeof(ThreadSlot);
// Chunks lie where the file's cache can have a large page for each.
constexpr size_t kChunksStart =
    (kCountersStart + kMaxCounterStates * sizeof(CounterState) + kChunkSize - 1) / kChunkSize *
    kChunkSize;

}  // namespace nvtx_perfetto::live
