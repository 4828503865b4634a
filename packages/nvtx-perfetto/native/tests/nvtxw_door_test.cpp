// SPDX-License-Identifier: Apache-2.0
// The interface from several threads at once; what single calls answer is the ABI cells' matter.
#include <nvtxw3/nvtxw3.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "check.h"
#include "packets.h"
#include "schemas.h"

extern "C" nvtxwResultCode_t nvtxwGetInterface(nvtxwInterfaceVersion_t version, const void** out);

namespace {

struct Session {
  const nvtxwInterface_v2_t* calls = nullptr;
  nvtxwSessionHandle_t handle = nullptr;
  nvtxDomainHandle_t domain = nullptr;
  std::string path = check::folder() + "/trace";

  explicit Session(const std::string& config = "") {
    const void* table = nullptr;
    nvtxwGetInterface(2, &table);
    calls = static_cast<const nvtxwInterface_v2_t*>(table);
    std::string text = "output=" + path + "\noverwrite=1\n" + config;
    nvtxwSessionAttributes_t given = {sizeof(given), "session", text.c_str()};
    CHECK_EQ(calls->SessionBegin(&given, &handle), NVTXW_RESULT_SUCCESS);
    CHECK_EQ(calls->DomainRegister(handle, nullptr, &domain), NVTXW_RESULT_SUCCESS);
  }
  nvtxwStreamHandle_t open(const std::string& name) {
    nvtxwStreamAttributes_t given = {};
    given.structSize = sizeof(given);
    given.name = name.c_str();
    nvtxwStreamHandle_t stream = nullptr;
    calls->StreamOpen(handle, &given, &stream);
    return stream;
  }
  uint64_t add_schema() {
    using schemas::entry;
    std::vector<schemas::Entry> entries = {
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, nullptr, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, nullptr, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, nullptr,
              NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE)};
    nvtxPayloadSchemaAttr_t given = {};
    given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    given.flags = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP;
    given.entries = entries.data();
    given.numEntries = entries.size();
    uint64_t id = 0;
    calls->SchemaRegister(domain, &given, &id);
    return id;
  }
  nvtxwResultCode_t write(nvtxwStreamHandle_t stream, uint64_t schema, int64_t begin, int64_t end,
                          const std::string& name) {
    struct {
      int64_t begin;
      int64_t end;
      nvtxStringHandle_t name;
    } row = {begin, end, nullptr};
    calls->StringRegister(domain, name.c_str(), &row.name);
    nvtxPayloadData_t payload = {schema, sizeof(row), &row};
    return calls->EventWrite(stream, &payload, 1);
  }
};

packets::Trace read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return packets::Trace(bytes);
}

}  // namespace

TEST("nvtxw door: threads write streams of their own while all of them register") {
  constexpr int kThreads = 4;
  constexpr int64_t kRanges = 3000;
  Session session("memory=256K");
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      uint64_t schema = session.add_schema();
      nvtxwStreamHandle_t stream = session.open("stream " + std::to_string(t));
      for (int64_t i = 0; i < kRanges; ++i) {
        if (i % 100 == 0) schema = session.add_schema();
        int64_t begin = (kRanges - i) * 10;
        std::string name = "range " + std::to_string(i % 500);
        refused += session.write(stream, schema, begin, begin + 5, name) != NVTXW_RESULT_SUCCESS;
      }
      refused += session.calls->StreamClose(stream) != NVTXW_RESULT_SUCCESS;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK_EQ(refused.load(), 0);
  CHECK_EQ(session.calls->SessionEnd(session.handle), NVTXW_RESULT_SUCCESS);
  packets::Trace trace = read(session.path);
  for (int t = 0; t < kThreads; ++t) {
    auto events = trace.on("stream " + std::to_string(t));
    CHECK_EQ(events.size(), static_cast<size_t>(2 * kRanges));
    CHECK_EQ(events.front().time, 10);
    CHECK_EQ(events.front().name, "range 499");
  }
}

TEST("nvtxw door: a session may end while threads write, open and close its streams") {
  for (int round = 0; round < 20; ++round) {
    Session session;
    uint64_t schema = session.add_schema();
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        ++ready;
        for (int i = 0; i < 200; ++i) {
          nvtxwStreamHandle_t stream = session.open(std::to_string(t) + " " + std::to_string(i));
          session.write(stream, schema, i, i + 1, "range");
          session.calls->StreamClose(stream);
        }
      });
    }
    while (ready < 3) std::this_thread::yield();
    CHECK_EQ(session.calls->SessionEnd(session.handle), NVTXW_RESULT_SUCCESS);
    for (auto& thread : threads) thread.join();
    for (const auto& event : read(session.path).events) CHECK(event.time < 1000);
    CHECK(session.open("late") == nullptr);
  }
}

TEST("nvtxw door: unnamed streams, the default domain and an empty session make a whole file") {
  Session session;
  CHECK(session.open("") != nullptr);
  CHECK(session.open("") != nullptr);
  CHECK_EQ(session.calls->SessionEnd(session.handle), NVTXW_RESULT_SUCCESS);
  packets::Trace trace = read(session.path);
  CHECK_EQ(trace.events.size(), 1u);
  CHECK_EQ(trace.events[0].name, "nvtx-perfetto summary");
}
