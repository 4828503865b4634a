// SPDX-License-Identifier: Apache-2.0
// An NVTX copy of our own drives the injection from many threads, with forks, flushes and
// threads that come and go. Made for the sanitizers, and right without them.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "live/recorder.h"
#include "live/trace_join.h"
#include "live_recording.h"

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
extern "C" int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module);

// The child of a fork starts a thread; all that is shared with it is made anew.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "die_after_fork=0";
}

namespace {

using namespace recording;

constexpr int kThreads = 8;
constexpr int kRanges = 500;
constexpr int kForks = 10;
constexpr int kShortThreads = live::kMaxThreads + 50;  // more than record at one time

// Places for the functions of the two core modules, as an NVTX copy has them.
struct NvtxCopy {
  static constexpr unsigned kSlots = 16;
  NvtxFunctionPointer functions[2][kSlots] = {};
  NvtxFunctionPointer* tables[2][kSlots] = {};
  template <typename Function>
  Function get(int module, int id) const {
    return reinterpret_cast<Function>(functions[module][id]);
  }
};
NvtxCopy copy;

int get_module(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  int index = module == NVTX_CB_MODULE_CORE ? 0 : module == NVTX_CB_MODULE_CORE2 ? 1 : -1;
  if (index < 0) return 0;
  for (unsigned i = 0; i < NvtxCopy::kSlots; ++i) copy.tables[index][i] = &copy.functions[index][i];
  *table = copy.tables[index];
  *size = NvtxCopy::kSlots;
  return 1;
}

const void* get_table(uint32_t id) {
  static const NvtxExportTableCallbacks callbacks{sizeof(callbacks), &get_module};
  return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
}

nvtxDomainHandle_t domain;
nvtxEventAttributes_t attributes;

void push() {
  copy.get<nvtxDomainRangePushEx_impl_fntype>(1, NVTX_CBID_CORE2_DomainRangePushEx)(domain,
                                                                                    &attributes);
}
void pop() { copy.get<nvtxDomainRangePop_impl_fntype>(1, NVTX_CBID_CORE2_DomainRangePop)(domain); }

// The payload extension's functions, and a batch of one mark.
intptr_t payload_slots[32];
std::atomic<int64_t> next_time{1};
nvtxEventBatch_t batch;

template <typename Function>
Function payload_function(size_t id) {
  return reinterpret_cast<Function>(payload_slots[id]);
}

int64_t own_clock() { return live::boottime(); }

void prepare_batch() {
  nvtxExtModuleSegment_t segment{0, std::size(payload_slots), payload_slots};
  nvtxExtModuleInfo_t module = {};
  module.moduleId = NVTX_EXT_PAYLOAD_MODULEID;
  module.segmentsCount = 1;
  module.segments = &segment;
  CHECK_EQ(InitializeInjectionNvtxExtension(&module), 1);
  module.moduleId = 1;  // memory, which has no functions here
  CHECK_EQ(InitializeInjectionNvtxExtension(&module), 0);
  nvtxPayloadSchemaEntry_t entry = {};
  entry.flags = NVTX_PAYLOAD_ENTRY_FLAG_MARK | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;
  entry.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  nvtxPayloadSchemaAttr_t schema = {};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.flags = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
  schema.entries = &entry;
  schema.numEntries = 1;
  using Register = uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*);
  auto add = payload_function<Register>(NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
  batch.eventSchemaId = add(domain, &schema);
  batch.size = sizeof(int64_t);
  using Timer = void (*)(nvtxDomainHandle_t, uint64_t, uint64_t, int64_t (*)());
  auto timer = payload_function<Timer>(NVTX3EXT_CBID_nvtxTimerSource);
  timer(domain, NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER, 0, &own_clock);
}

void work(int ranges) {
  using Submit = void (*)(nvtxDomainHandle_t, const nvtxEventBatch_t*);
  auto submit = payload_function<Submit>(NVTX3EXT_CBID_nvtxEventBatchSubmit);
  auto start = copy.get<nvtxRangeStartA_impl_fntype>(0, NVTX_CBID_CORE_RangeStartA);
  auto end = copy.get<nvtxRangeEnd_impl_fntype>(0, NVTX_CBID_CORE_RangeEnd);
  auto mark = copy.get<nvtxMarkA_impl_fntype>(0, NVTX_CBID_CORE_MarkA);
  for (int i = 0; i < ranges; ++i) {
    push();
    nvtxRangeId_t id = start("crossing");
    mark("mark");
    pop();
    end(id);
    int64_t time = next_time.fetch_add(1);
    nvtxEventBatch_t own = batch;
    own.events = &time;
    submit(domain, &own);
  }
}

nvtxStringHandle_t register_name() {
  return copy.get<nvtxDomainRegisterStringA_impl_fntype>(1, NVTX_CBID_CORE2_DomainRegisterStringA)(
      domain, "step");
}

// While another thread registers, so that a fork may come in the middle of that.
void fork_children() {
  std::atomic<bool> done{false};
  std::thread registering([&] {
    while (!done) register_name();
  });
  for (int i = 0; i < kForks; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // a child that hangs is no child that works
      register_name();
      work(kRanges);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
  }
  done = true;
  registering.join();
}

void drive() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, kRanges);
  std::thread flusher([] {
    for (int i = 0; i < 50; ++i) live::Recorder::existing()->flush_now();
  });
  for (int i = 0; i < kShortThreads; ++i) {
    std::thread(work, 1).join();
    if (i % 100 == 0) live::Recorder::existing()->flush_now();
  }
  fork_children();
  for (std::thread& thread : threads) thread.join();
  flusher.join();
}

std::vector<std::string> recovered_parts(const std::string& folder) {
  std::vector<std::string> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string problem;
    if (entry.path().extension() == ".live") live::recover(entry.path(), problem);
    CHECK_EQ(problem, "");
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".part") parts.push_back(entry.path());
  }
  return parts;
}

}  // namespace

TEST("live driver: threads, forks and flushes at once lose nothing") {
  std::string folder = check::folder();
  ::setenv("NVTX_PERFETTO_OUTPUT", (folder + "/driven").c_str(), 1);
  ::setenv("NVTX_PERFETTO_CONFIG", "parts=only", 1);
  CHECK_EQ(InitializeInjectionNvtx2(&get_table), 1);
  CHECK_EQ(InitializeInjectionNvtx2(&get_table), 1);  // as a second copy would
  auto create = copy.get<nvtxDomainCreateA_impl_fntype>(1, NVTX_CBID_CORE2_DomainCreateA);
  auto name =
      copy.get<nvtxDomainRegisterStringA_impl_fntype>(1, NVTX_CBID_CORE2_DomainRegisterStringA);
  domain = create("driver");
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = name(domain, "step");
  prepare_batch();
  drive();
  live::Recorder::existing()->finish();
  push();  // after the end: ignored
  live::JoinReport report;
  std::string output = folder + "/joined";
  std::vector<std::string> parts = recovered_parts(folder);
  CHECK_EQ(live::join_traces({parts.begin(), parts.end()}, output, false, report), "");
  constexpr uint64_t kEvents = 4 * (kRanges * (kThreads + kForks) + kShortThreads);
  CHECK_EQ(report.counts["events"], kEvents);
  CHECK_EQ(report.counts["dropped_ranges"], uint64_t{0});
  CHECK_EQ(report.counts["unmatched_ends"], uint64_t{0});
  packets::Trace trace(content(output));
  CHECK_EQ(count(trace, kBegin, "step") + count(trace, kBegin, "crossing"), kEvents / 4 * 2);
  CHECK_EQ(count(trace, kEnd), kEvents / 4 * 2);
  size_t deferred = 0;
  for (const auto& [uuid, track] : trace.tracks) {
    if (track.name != "driver deferred") continue;
    for (const packets::Event& event : trace.events) deferred += event.track == uuid;
  }
  CHECK_EQ(deferred, kEvents / 4);
}
