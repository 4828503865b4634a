// SPDX-License-Identifier: Apache-2.0
// The NVTXW backend's C interface, version 2. Nothing but a result code leaves a function.
#include <nvtxw3/nvtxw3.h>

#include <exception>
#include <memory>
#include <new>

#include "doors/nvtxw_structs.h"
#include "doors/nvtxw_tables.h"
#include "live/attribute_copy.h"
#include "payload/schema_builder.h"

namespace nvtx_perfetto {
namespace {

nvtxwResultCode_t code_of(Status status) {
  switch (status) {
    case Status::kOk:
    case Status::kDropped: return NVTXW_RESULT_SUCCESS;
    case Status::kInvalid: return NVTXW_RESULT_INVALID_ARGUMENT;
    case Status::kNotSupported: return NVTXW_RESULT_NOT_SUPPORTED;
    case Status::kFailed: break;
  }
  return NVTXW_RESULT_FAILED;
}

template <typename Call>
nvtxwResultCode_t guarded(const Call& call) noexcept {
  try {
    return code_of(call());
  } catch (const std::bad_alloc&) {
    return NVTXW_RESULT_FAILED;
  } catch (const std::exception& error) {
    try {
      fail(Status::kFailed, error.what());
    } catch (...) {  // the code alone tells
    }
  } catch (...) {
  }
  return NVTXW_RESULT_FAILED;
}

Status no_session() { return fail(Status::kInvalid, "the session handle is none, or has ended"); }
Status no_domain() { return fail(Status::kInvalid, "the domain handle is none, or has ended"); }
Status no_stream() { return fail(Status::kInvalid, "the stream handle is none, or was closed"); }

// Calls `use` with the domain of a handle.
template <typename Use>
nvtxwResultCode_t with_domain(nvtxDomainHandle_t handle, const Use& use) noexcept {
  return guarded([&] {
    auto entry = nvtxw_tables().domains.get(to_handle(handle));
    return entry ? use(*entry->domain, *entry->session) : no_domain();
  });
}

// Calls `use` with the stream of a handle, which nobody else uses meanwhile.
template <typename Use>
nvtxwResultCode_t with_stream(nvtxwStreamHandle_t handle, const Use& use) noexcept {
  return guarded([&] {
    auto stream = nvtxw_tables().streams.lock(to_handle(handle));
    return stream ? use(*stream) : no_stream();
  });
}

// What is registered, where, and what a recovery would need to register it again.
struct Registration {
  DefinitionLog& log;
  const Domain& domain;
  DefinitionKind kind;
};

// What a recovery reads back is not cut.
constexpr live::PackLimits kUncut = {UINT32_MAX - 1, UINT64_MAX - 1};

// Registers through `add` (wanted static id, problem), hands the id out, and logs what `pack`
// makes of the attributes.
template <typename Add, typename Pack>
Status register_id(const Registration& what, uint64_t wanted, uint64_t* out, const Add& add,
                   const Pack& pack) {
  if (!out && wanted == 0) {
    return fail(Status::kInvalid, "an id that the library chooses needs a place to go");
  }
  std::string problem;
  auto held = what.log.hold();
  uint64_t id = add(wanted, problem);
  if (id != 0 && what.log.active()) {
    ByteBuffer body;
    pack(body);
    what.log.add_held(what.kind, what.domain.serial(), id, body.view());
  }
  held.unlock();
  if (out) *out = id;
  return id ? Status::kOk : fail(Status::kInvalid, problem);
}

nvtxwResultCode_t session_begin(const nvtxwSessionAttributes_t* given,
                                nvtxwSessionHandle_t* out) noexcept {
  return guarded([&] {
    if (out) *out = nullptr;
    nvtxwSessionAttributes_t attributes;
    if (!out || !read_sized(given, attributes)) {
      return fail(Status::kInvalid, "SessionBegin needs attributes and a place for the handle");
    }
    NvtxwTables& all = nvtxw_tables();
    std::string name = text_or_empty(attributes.name);
    auto session =
        std::make_shared<Session>(name, parse_config(attributes.configString, name), all.streams);
    Status status = session->begin();
    if (status != Status::kOk) return status;
    uint64_t handle = all.sessions.add(session);
    std::lock_guard<std::mutex> lock(all.mutex);
    all.open_sessions.insert(handle);
    *out = static_cast<nvtxwSessionHandle_t>(to_pointer(handle));
    return Status::kOk;
  });
}

nvtxwResultCode_t session_end(nvtxwSessionHandle_t session) noexcept {
  return guarded([&] { return end_nvtxw_session(nvtxw_tables(), to_handle(session)); });
}

nvtxwResultCode_t domain_register(nvtxwSessionHandle_t session_handle,
                                  const nvtxwDomainAttributes_t* given,
                                  nvtxDomainHandle_t* out) noexcept {
  return guarded([&] {
    if (out) *out = nullptr;
    nvtxwDomainAttributes_t attributes;
    bool sized = read_sized(given, attributes);
    NvtxwTables& all = nvtxw_tables();
    auto session = all.sessions.get(to_handle(session_handle));
    if (!session) return no_session();
    if (!out || (given && !sized)) {
      return fail(Status::kInvalid,
                  "DomainRegister needs a place for the handle, and a structSize");
    }
    std::lock_guard<std::mutex> lock(session->mutex());
    if (session->ending()) return no_session();
    *out = static_cast<nvtxDomainHandle_t>(
        to_pointer(all.domain_handle(session, text_or_empty(attributes.name))));
    return Status::kOk;
  });
}

nvtxwResultCode_t category_register(nvtxDomainHandle_t handle, uint32_t category,
                                    const char* name) noexcept {
  return with_domain(handle, [&](Domain& domain, Session& session) {
    if (category == 0) return fail(Status::kInvalid, "category 0 means no category");
    domain.name_category(category, text_or_empty(name));
    session.definitions().add(DefinitionKind::kCategory, domain.serial(), category,
                              text_or_empty(name));
    return Status::kOk;
  });
}

nvtxwResultCode_t string_register(nvtxDomainHandle_t handle, const char* string,
                                  nvtxStringHandle_t* out) noexcept {
  return with_domain(handle, [&](Domain& domain, Session&) {
    if (out) *out = nullptr;
    if (!string || !out) {
      return fail(Status::kInvalid, "StringRegister needs a string and a place for the handle");
    }
    *out = static_cast<nvtxStringHandle_t>(to_pointer(domain.add_string(string)));
    return Status::kOk;
  });
}

nvtxwResultCode_t resource_register(nvtxDomainHandle_t handle,
                                    const nvtxResourceAttributes_t* given) noexcept {
  return with_domain(handle, [&](Domain& domain, Session& session) {
    if (!given || given->size < sizeof(nvtxResourceAttributes_t)) {
      return fail(Status::kInvalid, "ResourceRegister needs whole attributes");
    }
    std::string name;
    if (given->messageType == NVTX_MESSAGE_TYPE_ASCII) name = text_or_empty(given->message.ascii);
    if (given->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
      const std::string* text = domain.find_string(to_handle(given->message.registered));
      if (!text) return fail(Status::kInvalid, "the resource's name is no string of its domain");
      name = *text;
    }
    bool thread = given->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
    if (thread) {
      session.shop().tracks.name_thread(given->identifier.ullValue, name);
      session.definitions().add(DefinitionKind::kThread, 0, given->identifier.ullValue, name);
    }
    return Status::kOk;
  });
}

nvtxwResultCode_t scope_register(nvtxDomainHandle_t handle, const nvtxScopeAttr_t* given,
                                 uint64_t* out) noexcept {
  return with_domain(handle, [&](Domain& domain, Session& session) {
    if (out) *out = 0;
    nvtxScopeAttr_t attributes;
    if (!read_sized(given, attributes)) return fail(Status::kInvalid, "no scope attributes");
    uint64_t parent = attributes.parentScope;
    bool anchor = parent <= NVTX_SCOPE_CURRENT_HW_MACHINE || parent == NVTX_SCOPE_CURRENT_VM;
    if (parent < kPredefinedScopes && !anchor) {
      return fail(Status::kInvalid,
                  "NVTX_SCOPE_CURRENT_* other than machine and VM cannot be a"
                  " parent in a written trace");
    }
    Registration what{session.definitions(), domain, DefinitionKind::kScope};
    return register_id(
        what, attributes.scopeId, out,
        [&](uint64_t wanted, std::string& problem) {
          return domain.add_scope(attributes.path, parent, wanted, problem);
        },
        [&](ByteBuffer& body) { live::pack_scope(body, attributes.path, parent, kUncut); });
  });
}

nvtxwResultCode_t schema_register(nvtxDomainHandle_t handle, const nvtxPayloadSchemaAttr_t* given,
                                  uint64_t* out) noexcept {
  return with_domain(handle, [&](Domain& domain, Session& session) {
    if (out) *out = 0;
    if (!given) return fail(Status::kInvalid, "no schema attributes");
    BuiltSchema built = build_schema(*given, domain);
    if (built.error == BuildError::kNotSupported) {
      return fail(Status::kNotSupported, built.problem);
    }
    if (!built.schema) return fail(Status::kInvalid, built.problem);
    bool chosen = (given->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0;
    Registration what{session.definitions(), domain, DefinitionKind::kSchema};
    return register_id(
        what, chosen ? given->schemaId : 0, out,
        [&](uint64_t wanted, std::string& problem) {
          return domain.add_schema(std::move(built.schema), wanted, problem);
        },
        [&](ByteBuffer& body) { live::pack_schema(body, *given, kUncut); });
  });
}

nvtxwResultCode_t enum_register(nvtxDomainHandle_t handle, const nvtxPayloadEnumAttr_t* given,
                                uint64_t* out) noexcept {
  return with_domain(handle, [&](Domain& domain, Session& session) {
    if (out) *out = 0;
    if (!given) return fail(Status::kInvalid, "no enum attributes");
    BuiltEnum built = build_enum(*given);
    if (!built.type) return fail(Status::kInvalid, built.problem);
    bool chosen = (given->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0;
    Registration what{session.definitions(), domain, DefinitionKind::kEnum};
    return register_id(
        what, chosen ? given->schemaId : 0, out,
        [&](uint64_t wanted, std::string& problem) {
          return domain.add_enum(std::move(built.type), wanted, problem);
        },
        [&](ByteBuffer& body) { live::pack_enum(body, *given, kUncut); });
  });
}

nvtxwResultCode_t counter_register(nvtxDomainHandle_t handle, const nvtxCounterAttr_t* given,
                                   uint64_t* out) noexcept {
  return with_domain(handle, [&](Domain& domain, Session& session) {
    if (out) *out = 0;
    nvtxCounterAttr_t attributes;
    if (!read_sized(given, attributes)) return fail(Status::kInvalid, "no counter attributes");
    Counter counter;
    Status status = read_counter(attributes, domain, counter);
    if (status != Status::kOk) return status;
    Registration what{session.definitions(), domain, DefinitionKind::kCounter};
    return register_id(
        what, attributes.counterId, out,
        [&](uint64_t wanted, std::string& problem) {
          return domain.add_counter(std::move(counter), wanted, problem);
        },
        [&](ByteBuffer& body) { live::pack_counter(body, attributes, kUncut); });
  });
}

nvtxwResultCode_t time_domain_register(nvtxDomainHandle_t handle, const nvtxTimeDomainAttr_t* given,
                                       uint64_t* out) noexcept {
  return with_domain(handle, [&](Domain& domain, Session& session) {
    if (out) *out = 0;
    if (!given) return fail(Status::kInvalid, "no time domain attributes");
    TimeDomain taken;
    taken.id = given->timeDomainId;
    taken.timestamp_type = given->timestampTypeId;
    taken.resolution = given->timerResolution;
    taken.start = given->timerStart;
    Status status = check_time_domain(taken);
    if (status != Status::kOk) return status;
    Registration what{session.definitions(), domain, DefinitionKind::kTimeDomain};
    return register_id(
        what, taken.id, out,
        [&](uint64_t wanted, std::string& problem) {
          taken.id = wanted;
          return domain.add_time_domain(taken, problem);
        },
        [&](ByteBuffer& body) {
          body.append_value(TimeDomainFacts{taken.timestamp_type, taken.resolution, taken.start});
        });
  });
}

nvtxwResultCode_t stream_open(nvtxwSessionHandle_t session_handle,
                              const nvtxwStreamAttributes_t* given,
                              nvtxwStreamHandle_t* out) noexcept {
  return guarded([&] {
    if (out) *out = nullptr;
    nvtxwStreamAttributes_t attributes;
    NvtxwTables& all = nvtxw_tables();
    auto session = all.sessions.get(to_handle(session_handle));
    if (!session) return no_session();
    if (!out || !read_sized(given, attributes)) {
      return fail(Status::kInvalid, "StreamOpen needs attributes and a place for the handle");
    }
    StreamSpec spec;
    Status status = read_stream(attributes, spec);
    if (status != Status::kOk) return status;
    std::lock_guard<std::mutex> lock(session->mutex());
    if (session->ending()) return no_session();
    uint64_t domain = attributes.domain ? to_handle(attributes.domain)
                                        : all.domain_handle(session, std::string());
    auto entry = all.domains.get(domain);
    if (!entry) return no_domain();
    if (entry->session != session) {
      return fail(Status::kInvalid, "the stream's domain belongs to another session");
    }
    spec.domain = entry->domain.get();
    std::shared_ptr<Stream> stream;
    status = session->open_stream(std::move(spec), stream);
    if (status != Status::kOk) return status;
    uint64_t handle = all.streams.add(stream);
    session->opened(handle);
    *out = static_cast<nvtxwStreamHandle_t>(to_pointer(handle));
    return Status::kOk;
  });
}

nvtxwResultCode_t stream_close(nvtxwStreamHandle_t handle) noexcept {
  return guarded([&] {
    auto stream =
        nvtxw_tables().streams.remove(to_handle(handle), [](Stream& last) { last.close(); });
    return stream ? Status::kOk : no_stream();
  });
}

nvtxwResultCode_t event_write(nvtxwStreamHandle_t handle, const nvtxPayloadData_t* payloads,
                              size_t count) noexcept {
  return with_stream(handle, [&](Stream& stream) {
    PayloadRows rows;
    Status status = rows.read(stream.domain(), payloads, count);
    return status == Status::kOk ? stream.write_event(rows.rows(), rows.count()) : status;
  });
}

nvtxwResultCode_t event_batch_write(nvtxwStreamHandle_t handle,
                                    const nvtxEventBatch_t* batch) noexcept {
  return with_stream(handle, [&](Stream& stream) {
    if (!batch) return fail(Status::kInvalid, "no batch");
    const Schema* schema = stream.domain().find_schema(batch->eventSchemaId);
    if (!schema) {
      return fail(Status::kInvalid, "no schema " + std::to_string(batch->eventSchemaId) +
                                        " in domain " + stream.domain().shown_name());
    }
    return stream.write_event_batch(*schema, static_cast<const uint8_t*>(batch->events),
                                    batch->size, batch->scope, read_batch_order(batch->flags));
  });
}

nvtxwResultCode_t counter_write(nvtxwStreamHandle_t handle, int64_t time, uint64_t counter,
                                const void* data, size_t size) noexcept {
  return with_stream(
      handle, [&](Stream& stream) { return stream.write_sample(time, counter, data, size); });
}

nvtxwResultCode_t counter_no_value_write(nvtxwStreamHandle_t handle, int64_t time, uint64_t counter,
                                         uint8_t reason) noexcept {
  return with_stream(handle, [&](Stream& stream) {
    if (reason > NVTX_COUNTER_SAMPLE_UNAVAILABLE) {
      return fail(Status::kInvalid,
                  "unknown reason " + std::to_string(reason) + " for a sample without a value");
    }
    return stream.write_no_value(time, counter, static_cast<NoValue>(reason));
  });
}

nvtxwResultCode_t counter_batch_write(nvtxwStreamHandle_t handle,
                                      const nvtxCounterBatch_t* given) noexcept {
  return with_stream(handle, [&](Stream& stream) {
    if (!given) return fail(Status::kInvalid, "no batch");
    if (given->timestamps && given->timestampsSize % sizeof(int64_t) != 0) {
      return fail(Status::kInvalid, "timestampsSize is no multiple of 8 bytes");
    }
    constexpr uint64_t kIntervals = NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR |
                                    NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR;
    if (given->flags & kIntervals) {
      return fail(Status::kNotSupported,
                  "begin or end time with an interval is not read yet;"
                  " give each sample its time");
    }
    Stream::CounterBatch batch;
    batch.counter = given->counterId;
    batch.samples = static_cast<const uint8_t*>(given->counters);
    batch.size = given->countersSize;
    batch.ticks = given->timestamps;
    batch.tick_count = given->timestampsSize / sizeof(int64_t);
    batch.order = read_batch_order(given->flags);
    return stream.write_counter_batch(batch);
  });
}

nvtxwResultCode_t time_sync_point_write(nvtxwStreamHandle_t handle, uint64_t first, uint64_t second,
                                        int64_t time_first, int64_t time_second) noexcept {
  nvtxSyncPoint_t point{time_first, time_second};
  return with_stream(handle,
                     [&](Stream& stream) { return stream.tie_clocks(first, second, &point, 1); });
}

nvtxwResultCode_t time_sync_point_table_write(nvtxwStreamHandle_t handle, uint64_t source,
                                              uint64_t destination, const nvtxSyncPoint_t* points,
                                              size_t count) noexcept {
  return with_stream(handle, [&](Stream& stream) {
    if (!points && count != 0) return fail(Status::kInvalid, "no sync points");
    return stream.tie_clocks(source, destination, points, count);
  });
}

nvtxwResultCode_t timestamp_conversion_factor_write(nvtxwStreamHandle_t handle, uint64_t source,
                                                    uint64_t destination, double slope,
                                                    int64_t time_source,
                                                    int64_t time_destination) noexcept {
  return with_stream(handle, [&](Stream& stream) {
    return stream.tie_clocks(source, destination, slope, {time_source, time_destination});
  });
}

constexpr nvtxwInterface_v2_t kInterface = {session_begin,
                                            session_end,
                                            domain_register,
                                            category_register,
                                            string_register,
                                            resource_register,
                                            scope_register,
                                            schema_register,
                                            enum_register,
                                            counter_register,
                                            time_domain_register,
                                            stream_open,
                                            stream_close,
                                            event_write,
                                            event_batch_write,
                                            counter_write,
                                            counter_no_value_write,
                                            counter_batch_write,
                                            time_sync_point_write,
                                            time_sync_point_table_write,
                                            timestamp_conversion_factor_write,
                                            {}};

}  // namespace
}  // namespace nvtx_perfetto

#define NVTX_PERFETTO_EXPORT extern "C" __attribute__((visibility("default")))

NVTX_PERFETTO_EXPORT nvtxwResultCode_t nvtxwGetInterface(nvtxwInterfaceVersion_t version,
                                                         const void** out) noexcept {
  if (!out) return NVTXW_RESULT_INVALID_ARGUMENT;
  *out = nullptr;
  if (version != NVTXW_INTERFACE_VERSION) return NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED;
  *out = &nvtx_perfetto::kInterface;
  return NVTXW_RESULT_SUCCESS;
}

NVTX_PERFETTO_EXPORT void nvtxwFinalize() noexcept {
  try {
    nvtx_perfetto::end_all_nvtxw_sessions();
  } catch (...) {  // nobody to tell
  }
}

// Copies the calling thread's last error, cut to `size` with its terminator, and returns
// its whole length.
NVTX_PERFETTO_EXPORT size_t nvtx_perfetto_last_error(char* text, size_t size) noexcept {
  const std::string& why = nvtx_perfetto::last_error();
  if (text && size > 0) {
    size_t copied = why.size() < size - 1 ? why.size() : size - 1;
    std::memcpy(text, why.data(), copied);
    text[copied] = '\0';
  }
  return why.size();
}

NVTX_PERFETTO_EXPORT const char* nvtx_perfetto_version() noexcept { return NVTX_PERFETTO_VERSION; }
