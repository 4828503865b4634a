// SPDX-License-Identifier: Apache-2.0
// A recording in a folder of its own, without the environment or NVTX around it.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "check.h"
#include "live/attribute_copy.h"
#include "live/clock.h"
#include "live/recovery.h"
#include "live/session.h"
#include "live/thread_writer.h"
#include "packets.h"

namespace recording {

namespace live = nvtx_perfetto::live;

using check::content;

// The test's file of that kind, if there is one.
inline std::string with_suffix(const std::string& suffix) {
  for (const auto& entry : std::filesystem::directory_iterator(check::folder())) {
    if (entry.path().extension() == suffix) return entry.path();
  }
  return {};
}

// Registers a static schema; a `size` of 0 leaves it to its entries.
inline uint64_t define_schema(live::Registry& registry, uint32_t domain, uint64_t flags,
                              const nvtxPayloadSchemaEntry_t* entries, size_t count,
                              size_t size = 0) {
  nvtxPayloadSchemaAttr_t schema = {};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
  if (size) schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.flags = flags;
  schema.entries = entries;
  schema.numEntries = count;
  schema.payloadStaticSize = size;
  nvtx_perfetto::ByteBuffer body;
  live::pack_schema(body, schema);
  return registry.define(live::DefinitionKind::kSchema, domain, 0, body.view(),
                         NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
}

class Recording {
 public:
  explicit Recording(uint32_t chunks = 64, const std::string& name = "trace",
                     bool drain_thread = false)
      : output(check::folder() + "/" + name) {
    live::Configuration configuration;
    configuration.output = output;
    configuration.chunk_limit = chunks;
    configuration.drain_thread = drain_thread;
    session = std::make_unique<live::Session>();
    CHECK_EQ(session->open(configuration, live::clock_offset(CLOCK_REALTIME), true, registry), "");
    writer = std::make_unique<live::ThreadWriter>(registry);
    writer->attach(session.get());
  }
  // The trace after a normal end.
  packets::Trace finish() {
    writer->detach();
    CHECK_EQ(session->finish(registry), "");
    return packets::Trace(content(output));
  }

  live::EventInput named(const char* text) {
    live::EventInput event;
    event.text_kind = live::EventInput::kText;
    event.text = text;
    return event;
  }

  const std::string output;
  live::Registry registry{{}};
  std::unique_ptr<live::Session> session;
  std::unique_ptr<live::ThreadWriter> writer;
};

// Runs `work` on a recording of a child, which is killed behind it.
template <typename Work>
void record_and_die(const Work& work) {
  check::folder();  // the child's too
  pid_t child = ::fork();
  if (child == 0) {
    Recording recording;
    work(recording);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}

// While it lives, files of this process cannot grow beyond a size, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t size) : before_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    rlimit less = {size, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &less);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_ = {};
  void (*before_)(int);
};

constexpr uint64_t kBegin = 1;
constexpr uint64_t kEnd = 2;
constexpr uint64_t kInstant = 3;

inline size_t count(const packets::Trace& trace, uint64_t type, const std::string& name = "") {
  size_t found = 0;
  for (const packets::Event& event : trace.events) {
    found += event.type == type && (name.empty() || event.name == name);
  }
  return found;
}

inline std::string summary(const packets::Trace& trace, const std::string& key) {
  for (const packets::Event& event : trace.events) {
    if (event.name != "nvtx-perfetto summary") continue;
    auto found = event.arguments.find("summary." + key);
    return found == event.arguments.end() ? "" : found->second;
  }
  return "no summary";
}

}  // namespace recording
