// SPDX-License-Identifier: Apache-2.0
// An NVTX copy of our own drives the injection from many threads, with forks, flushes and
// threads that come and go. Made for the sanitizers, and right without them.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "live/recorder.h"
#include "live/trace_join.h"
#include "live_recording.h"

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

// The child of a fork starts a thread; all that is shared with it is made anew.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "die_after_fork=0";
}

namespace {

using namespace recording;

constexpr int kThreads = 8;
constexpr int kRanges = 500;
constexpr int kForks = 3;
constexpr int kShortThreads = 40;

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

void work(int ranges) {
  auto start = copy.get<nvtxRangeStartA_impl_fntype>(0, NVTX_CBID_CORE_RangeStartA);
  auto end = copy.get<nvtxRangeEnd_impl_fntype>(0, NVTX_CBID_CORE_RangeEnd);
  auto mark = copy.get<nvtxMarkA_impl_fntype>(0, NVTX_CBID_CORE_MarkA);
  for (int i = 0; i < ranges; ++i) {
    push();
    nvtxRangeId_t id = start("crossing");
    mark("mark");
    pop();
    end(id);
  }
}

void fork_children() {
  for (int i = 0; i < kForks; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      work(kRanges);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
  }
}

void drive() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, kRanges);
  std::thread flusher([] {
    for (int i = 0; i < 50; ++i) live::Recorder::existing()->flush_now();
  });
  for (int i = 0; i < kShortThreads; ++i) std::thread(work, 1).join();
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
  drive();
  live::Recorder::existing()->finish();
  push();  // after the end: ignored
  live::JoinReport report;
  std::string output = folder + "/joined";
  CHECK_EQ(live::join_traces(recovered_parts(folder), output, false, report), "");
  constexpr uint64_t kEvents = 3 * (kRanges * (kThreads + kForks) + kShortThreads);
  CHECK_EQ(report.counts["events"], kEvents);
  CHECK_EQ(report.counts["dropped_ranges"], uint64_t{0});
  CHECK_EQ(report.counts["unmatched_ends"], uint64_t{0});
  packets::Trace trace(content(output));
  CHECK_EQ(count(trace, kBegin, "step") + count(trace, kBegin, "crossing"), kEvents / 3 * 2);
  CHECK_EQ(count(trace, kEnd), kEvents / 3 * 2);
}
