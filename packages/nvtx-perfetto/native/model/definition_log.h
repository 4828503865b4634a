// SPDX-License-Identifier: Apache-2.0
// What a session's records refer to, in the spill file beside them, so that whoever finds the
// file of a killed session can make the same session again:
//
//   | size: u64 | kind: u32 | domain's serial: u32 | id: u64 | size bytes | ...
//
// Done again in their order, definitions give the same ids.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_buffer.h"
#include "io/spill_file.h"

namespace nvtx_perfetto {

class Domain;

enum class DefinitionKind : uint32_t {
  kSession = 1,  // id: the seed; body: SessionFacts and the name
  kHostTimes,    // body: HostTimes
  kDomain,       // body: the name
  kString,       // id: its handle; body: the text
  kCategory,     // id: its number; body: the name
  kThread,       // id: the OS's; body: the name
  kScope,        // body: as packed by whoever registers
  kSchema,
  kEnum,
  kCounter,
  kTimeDomain,  // body: TimeDomainFacts
  kStream,      // id: its number; body: StreamFacts and the name
  kPoint,       // body: ClockTie
  kFactor,
};

struct DefinitionHead {
  uint64_t size;
  uint32_t kind;
  uint32_t domain;
  uint64_t id;
};
static_assert(sizeof(DefinitionHead) == 24);

struct SessionFacts {
  int64_t time_offset;
  uint64_t max_size;
  uint64_t memory;
  uint32_t host_snapshot;
  uint32_t unrelated_clocks;
};

struct StreamFacts {
  uint64_t scope;
  uint64_t time_domain;
  uint32_t may_pass;  // its rows may have been written before others came
  uint32_t leads;     // the trace went over to its clock when it opened
};

struct TimeDomainFacts {
  uint64_t timestamp_type;
  int64_t resolution;
  uint64_t start;
};

struct ClockTie {
  uint64_t from;
  uint64_t to;
  int64_t time_from;
  int64_t time_to;
  double slope;  // of a factor
};

// Gathers definitions and writes what is new before every run that is spilled. Safe to use from
// several threads.
class DefinitionLog {
 public:
  explicit DefinitionLog(SpillFile& file) : file_(file) {}

  // False when nobody would find them.
  bool active() const { return file_.named(); }
  // While this is held, definitions of others wait: what has a number by its order is
  // registered and added under one hold.
  std::unique_lock<std::mutex> hold() { return std::unique_lock<std::mutex>(mutex_); }
  void add_held(DefinitionKind kind, uint32_t domain, uint64_t id, std::string_view body);
  template <typename Facts>
  void add(DefinitionKind kind, uint32_t domain, uint64_t id, const Facts& facts,
           std::string_view name) {
    std::string body(reinterpret_cast<const char*>(&facts), sizeof(facts));
    add(kind, domain, id, body.append(name));
  }
  void add(DefinitionKind kind, uint32_t domain, uint64_t id, std::string_view body) {
    auto held = hold();
    add_held(kind, domain, id, body);
  }
  // Its strings are looked up when they are written. The domain must outlive the log.
  void add_domain(const Domain& domain);

  // False when something could not be written; it is tried again the next time.
  bool save();

 private:
  struct DomainStrings {
    const Domain* domain;
    uint64_t saved;
  };
  bool save_strings(DomainStrings& strings);
  bool write(const ByteBuffer& definitions);

  SpillFile& file_;
  std::mutex mutex_;
  ByteBuffer pending_;
  std::vector<DomainStrings> domains_;
};

}  // namespace nvtx_perfetto
