// SPDX-License-Identifier: Apache-2.0
#include "writer_session.h"

#include <nvtx3/nvToolsExtSemanticsCounters.h>

namespace writer {
namespace {

using schemas::entry;

constexpr uint64_t kUnsorted = 3 << 1;
constexpr uint64_t kRealtime = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME;
constexpr uint64_t kStaticSchema = (1 << 24) + 5;
constexpr uint64_t kStaticScope = (1 << 24) + 6;

const schemas::Entry kBegin =
    entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
const schemas::Entry kEnd =
    entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
const schemas::Entry kName = entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name",
                                   NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);

struct RangeRow {
  int64_t begin;
  int64_t end;
  nvtxStringHandle_t name;
  uint32_t category;
  uint32_t mood;
  int32_t x;
  uint8_t y;
};

}  // namespace

WriterSession::WriterSession(const std::string& name, const std::string& config)
    : path(folder + "/" + name) {
  const void* table = nullptr;
  nvtxwGetInterface(2, &table);
  calls_ = static_cast<const nvtxwInterface_v2_t*>(table);
  std::string text = "output=" + path + "\n" + config;
  nvtxwSessionAttributes_t given = {sizeof(given), "session", text.c_str()};
  good(calls_->SessionBegin(&given, &handle));
}

void WriterSession::end() {
  if (handle) good(calls_->SessionEnd(handle));
  handle = nullptr;
}

void WriterSession::register_everything() {
  nvtxwDomainAttributes_t given = {sizeof(given), "dom"};
  good(calls_->DomainRegister(handle, &given, &domain_));
  good(calls_->CategoryRegister(domain_, 7, "forward, first"));
  good(calls_->StringRegister(domain_, "a name", &name_));
  register_types();
  register_places();
  uint64_t number = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  level_ = add_counter("level", number, scope_, NVTX_COUNTER_FLAG_LIMIT_MAX);
  steps_ = add_counter("steps", number, scope_, NVTX_COUNTER_FLAG_VALUETYPE_DELTA);
}

void WriterSession::register_types() {
  nvtxPayloadEnum_t labels[] = {{"calm", 1, 0}, {"hurried", 2, 0}};
  nvtxPayloadEnumAttr_t moods = {};
  moods.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  moods.entries = labels;
  moods.numEntries = 2;
  moods.sizeOfEnum = 4;
  uint64_t mood = 0;
  good(calls_->EnumRegister(domain_, &moods, &mood));
  uint64_t inner = add_schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "y")});
  range_ = add_schema({kBegin, kEnd, kName, entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category"),
                       entry(mood, "mood"), entry(inner, "inner")},
                      NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP, kStaticSchema);
  link_ = add_schema({kBegin, kEnd, kName, entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "nvtx.flow_out"),
                      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "nvtx.flow_in")},
                     NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP);
  schemas::Entry id = entry(NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, "id");
  push_ = add_schema({kBegin, kName}, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH);
  pop_ = add_schema({kEnd}, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP);
  start_ = add_schema({kBegin, kName, id}, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START);
  stop_ = add_schema({kEnd, id}, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END);
}

void WriterSession::register_places() {
  nvtxScopeAttr_t place = {};
  place.structSize = sizeof(place);
  place.path = "node/gpu[0]";
  good(calls_->ScopeRegister(domain_, &place, &scope_));
  place.path = "process[42] train/thread[43]";
  place.scopeId = kStaticScope;
  good(calls_->ScopeRegister(domain_, &place, &thread_));
  nvtxResourceAttributes_t thread = {};
  thread.version = NVTX_VERSION;
  thread.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  thread.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
  thread.identifier.ullValue = 43;
  thread.messageType = NVTX_MESSAGE_TYPE_ASCII;
  thread.message.ascii = "the worker";
  good(calls_->ResourceRegister(domain_, &thread));
  nvtxTimeDomainAttr_t clock = {};
  clock.timestampTypeId = NVTX_TIMESTAMP_TYPE_NONE;
  clock.timerResolution = 1'000'000;
  good(calls_->TimeDomainRegister(domain_, &clock, &clock_));
  clock.timerResolution = 0;
  good(calls_->TimeDomainRegister(domain_, &clock, &fast_));
}

uint64_t WriterSession::add_schema(const std::vector<schemas::Entry>& entries, uint64_t kind,
                                   uint64_t id) {
  nvtxPayloadSchemaAttr_t given = {};
  given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  if (id) given.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  given.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  given.flags = kind;
  given.entries = entries.data();
  given.numEntries = entries.size();
  given.schemaId = id;
  uint64_t out = 0;
  good(calls_->SchemaRegister(domain_, &given, &out));
  return out;
}

uint64_t WriterSession::add_counter(const char* name, uint64_t schema, uint64_t scope,
                                    uint64_t flags) {
  nvtxSemanticsCounter_t semantics = {};
  semantics.header.structSize = sizeof(semantics);
  semantics.header.semanticId = NVTX_SEMANTIC_ID_COUNTERS_V1;
  semantics.header.version = 1;
  semantics.flags = flags;
  semantics.unit = "bytes";
  semantics.unitScaleNumerator = 1024;
  semantics.limitType = NVTX_COUNTER_LIMIT_I64;
  semantics.max.i64 = 99;
  nvtxCounterAttr_t given = {};
  given.structSize = sizeof(given);
  given.schemaId = schema;
  given.name = name;
  given.description = "what is counted";
  given.scopeId = scope;
  given.semantics = &semantics.header;
  uint64_t out = 0;
  good(calls_->CounterRegister(domain_, &given, &out));
  return out;
}

nvtxwStreamHandle_t WriterSession::open(const char* name, uint64_t scope, uint64_t clock) {
  nvtxwStreamAttributes_t given = {};
  given.structSize = sizeof(given);
  given.name = name;
  given.domain = domain_;
  given.scopeId = scope;
  given.timeDomainId = clock ? clock : kRealtime;
  nvtxwStreamHandle_t stream = nullptr;
  good(calls_->StreamOpen(handle, &given, &stream));
  return stream;
}

void WriterSession::write(nvtxwStreamHandle_t stream, uint64_t schema, const void* row,
                          size_t size) {
  nvtxPayloadData_t payload = {schema, size, row};
  good(calls_->EventWrite(stream, &payload, 1));
  ++written;
}

void WriterSession::write_range(nvtxwStreamHandle_t stream, int64_t begin, int64_t end,
                                uint32_t number) {
  RangeRow row = {begin, end, name_, number % 8, 1 + number % 2, -static_cast<int32_t>(number), 3};
  write(stream, range_, &row, sizeof(row));
}

void WriterSession::write_everything() {
  nvtxwStreamHandle_t plain = open("plain");
  nvtxwStreamHandle_t threaded = open("threaded", thread_);
  for (uint32_t i = 0; i < 20; ++i) {
    write_range(i % 2 ? plain : threaded, 1000 - 10 * i, 1000 + 10 * i, i);
  }
  RangeRow rows[3] = {};
  for (int64_t i = 0; i < 3; ++i) rows[i] = {30 - i, 40 + i, name_, 7, 2, 5, 6};
  nvtxEventBatch_t batch = {};
  batch.eventSchemaId = range_;
  batch.events = rows;
  batch.size = sizeof(rows);
  batch.scope = scope_;
  batch.flags = kUnsorted;
  good(calls_->EventBatchWrite(plain, &batch));
  written += 3;
  write_halves();
  write_links();
  write_counters();
  write_deferred();
}

void WriterSession::write_halves() {
  nvtxwStreamHandle_t stream = open("halves");
  nvtxwStreamHandle_t other = open("other halves");
  struct {
    int64_t time;
    nvtxStringHandle_t name;
    uint64_t id;
  } first = {0, name_, 0};
  struct {
    int64_t time;
    uint64_t id;
  } last = {};
  write_scoped_halves(stream);
  for (int64_t i = 0; i < 6; ++i) {
    first.time = 100 - 10 * i;
    last.time = 101 + 10 * i;
    first.id = last.id = static_cast<uint64_t>(i);
    write(stream, pop_, &last.time, sizeof(last.time));
    write(stream, push_, &first, sizeof(first) - sizeof(first.id));
    write(other, stop_, &last, sizeof(last));
    if (i > 0) write(stream, start_, &first, sizeof(first));  // one end has no start
  }
}

// Pairs in a batch that lies elsewhere than its stream.
void WriterSession::write_scoped_halves(nvtxwStreamHandle_t stream) {
  struct {
    int64_t time;
    nvtxStringHandle_t name;
  } first[] = {{20, name_}, {10, name_}};
  int64_t last[] = {31, 41};
  nvtxEventBatch_t batch = {};
  batch.scope = scope_;
  batch.flags = kUnsorted;
  batch.eventSchemaId = push_;
  batch.events = first;
  batch.size = sizeof(first);
  good(calls_->EventBatchWrite(stream, &batch));
  batch.eventSchemaId = pop_;
  batch.events = last;
  batch.size = sizeof(last);
  good(calls_->EventBatchWrite(stream, &batch));
  written += 4;
}

void WriterSession::write_links() {
  nvtxwStreamHandle_t stream = open("links");
  struct {
    int64_t begin;
    int64_t end;
    nvtxStringHandle_t name;
    uint64_t out;
    uint64_t in;
  } row = {};
  row.name = name_;
  for (uint64_t i = 0; i < 6; ++i) {
    row.begin = static_cast<int64_t>(100 * i);
    row.end = row.begin + 50;
    row.out = i < 5 ? i + 1 : 0;
    row.in = i == 3 ? 99 : i;  // one comes from nowhere
    write(stream, link_, &row, sizeof(row));
  }
}

void WriterSession::write_counters() {
  nvtxwStreamHandle_t stream = open("samples");
  for (int64_t i = 0; i < 8; ++i) {
    good(calls_->CounterWrite(stream, 50 - i, level_, &i, sizeof(i)));
    good(calls_->CounterWrite(stream, 50 - i, steps_, &i, sizeof(i)));
    good(calls_->CounterNoValueWrite(stream, 60 + i, level_, static_cast<uint8_t>(i % 3)));
    written += 3;
  }
}

void WriterSession::write_deferred() {
  nvtxwStreamHandle_t stream = open("own clock", 0, clock_);
  write_range(stream, 5, 9, 1);
  int64_t value = 4;
  good(calls_->CounterWrite(stream, 6, level_, &value, sizeof(value)));
  good(calls_->CounterNoValueWrite(stream, 7, level_, NVTX_COUNTER_SAMPLE_ZERO));
  nvtxSyncPoint_t points[] = {{0, 500'000}, {10, 520'000}};
  good(calls_->TimeSyncPointTableWrite(stream, clock_, kRealtime, points, 2));
  written += 2;
  nvtxwStreamHandle_t faster = open("faster clock", 0, fast_);
  write_range(faster, 100, 140, 2);
  good(calls_->TimestampConversionFactorWrite(faster, fast_, kRealtime, 2.5, 100, 600'000));
}

}  // namespace writer
