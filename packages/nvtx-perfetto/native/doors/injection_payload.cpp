// SPDX-License-Identifier: Apache-2.0
// The payload extension: schemas, enums, scopes, events made of payloads, time.
#include <algorithm>

#include "doors/injection_extensions.h"
#include "live/attribute_copy.h"

namespace nvtx_perfetto::injection {
namespace {

using live::DefinitionKind;

// Registers what `pack` writes; 0 when it cannot be.
template <typename Pack>
uint64_t define(nvtxDomainHandle_t domain, DefinitionKind kind, uint64_t id, uint64_t dynamic_start,
                const Pack& pack) noexcept {
  try {
    uint32_t index = domain_index(domain);
    if (index == Registry::kNoDomain) return 0;
    ByteBuffer body;
    pack(body);
    return Recorder::get().registry().define(kind, index, id, body.view(), dynamic_start);
  } catch (...) {
    return 0;
  }
}

// A caller's own id, if it lies where such ids may lie.
uint64_t static_id(uint64_t id, uint64_t first, uint64_t end) {
  return id >= first && id < end ? id : 0;
}

uint64_t NVTX_API schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* given) {
  if (!given) return 0;
  uint64_t wanted =
      given->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID ? given->schemaId : 0;
  wanted =
      static_id(wanted, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  uint64_t id =
      define(domain, DefinitionKind::kSchema, wanted, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START,
             [&](ByteBuffer& out) { live::pack_schema(out, *given); });
  if (id != 0 && (given->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) {
    Recorder::get().registry().note_size(domain_index(domain), id, given->payloadStaticSize);
  }
  return id;
}

uint64_t NVTX_API enum_register(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* given) {
  if (!given) return 0;
  uint64_t wanted = given->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID ? given->schemaId : 0;
  wanted =
      static_id(wanted, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  return define(domain, DefinitionKind::kEnum, wanted, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START,
                [&](ByteBuffer& out) { live::pack_enum(out, *given); });
}

uint64_t NVTX_API scope_register(nvtxDomainHandle_t domain, const nvtxScopeAttr_t* given) {
  if (!given) return NVTX_SCOPE_NONE;
  nvtxScopeAttr_t known = {};
  std::memcpy(&known, given, std::min(given->structSize, sizeof(known)));
  uint64_t wanted =
      static_id(known.scopeId, NVTX_SCOPE_ID_STATIC_START, NVTX_SCOPE_ID_DYNAMIC_START);
  return define(domain, DefinitionKind::kScope, wanted, NVTX_SCOPE_ID_DYNAMIC_START,
                [&](ByteBuffer& out) { live::pack_scope(out, known.path, known.parentScope); });
}

EventInput event_of(const nvtxPayloadData_t* payloads, size_t count) {
  EventInput event;
  event.payloads = payloads;
  event.payload_count = payloads ? count : 0;
  return event;
}

void NVTX_API mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                           size_t count) {
  in_domain(domain, 0, [&](ThreadWriter& writer, uint32_t index) {
    writer.mark(index, event_of(payloads, count));
    return 0;
  });
}
int NVTX_API push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                          size_t count) {
  return in_domain(domain, -1, [&](ThreadWriter& writer, uint32_t index) {
    return writer.push(index, event_of(payloads, count));
  });
}
int NVTX_API pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                         size_t count) {
  return in_domain(domain, -1, [&](ThreadWriter& writer, uint32_t index) {
    return writer.pop(index, payloads, payloads ? count : 0);
  });
}
nvtxRangeId_t NVTX_API start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                                     size_t count) {
  return in_domain(domain, nvtxRangeId_t{0}, [&](ThreadWriter& writer, uint32_t index) {
    return writer.start(index, event_of(payloads, count));
  });
}
void NVTX_API end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                          const nvtxPayloadData_t* payloads, size_t count) {
  in_domain(domain, 0, [&](ThreadWriter& writer, uint32_t) {
    writer.end(id, payloads, payloads ? count : 0);
    return 0;
  });
}

uint8_t NVTX_API domain_is_enabled(nvtxDomainHandle_t domain) {
  uint32_t index;
  return Recorder::existing()->registry().find_domain(bits_of(domain), index) ==
         Registry::Lookup::kGood;
}

int64_t NVTX_API timestamp_get() { return Recorder::existing()->now(); }

uint64_t NVTX_API time_domain_register(nvtxDomainHandle_t, const nvtxTimeDomainAttr_t* given) {
  // Batches on a predefined clock need no more than its type; others are counted as dropped.
  count_unsupported();
  return given ? given->timestampTypeId : 0;
}
void NVTX_API timer_source(nvtxDomainHandle_t, uint64_t, uint64_t, int64_t (*)()) {
  count_unsupported();
}
void NVTX_API timer_source_with_data(nvtxDomainHandle_t, uint64_t, uint64_t, int64_t (*)(void*),
                                     void*) {
  count_unsupported();
}
void NVTX_API time_sync_point(nvtxDomainHandle_t, uint64_t, uint64_t, int64_t, int64_t) {
  count_unsupported();
}
void NVTX_API time_sync_table(nvtxDomainHandle_t, uint64_t, uint64_t, const nvtxSyncPoint_t*,
                              size_t) {
  count_unsupported();
}
void NVTX_API conversion_factor(nvtxDomainHandle_t, uint64_t, uint64_t, double, int64_t, int64_t) {
  count_unsupported();
}
void NVTX_API event_submit(nvtxDomainHandle_t, const nvtxPayloadData_t*, size_t) {
  count_unsupported();
}
void NVTX_API event_batch_submit(nvtxDomainHandle_t, const nvtxEventBatch_t*) {
  count_unsupported();
}

}  // namespace

void fill_payload(nvtxExtModuleSegment_t& segment) {
  fill_slot(segment, NVTX3EXT_CBID_nvtxPayloadSchemaRegister, &schema_register);
  fill_slot(segment, NVTX3EXT_CBID_nvtxPayloadEnumRegister, &enum_register);
  fill_slot(segment, NVTX3EXT_CBID_nvtxMarkPayload, &mark_payload);
  fill_slot(segment, NVTX3EXT_CBID_nvtxRangePushPayload, &push_payload);
  fill_slot(segment, NVTX3EXT_CBID_nvtxRangePopPayload, &pop_payload);
  fill_slot(segment, NVTX3EXT_CBID_nvtxRangeStartPayload, &start_payload);
  fill_slot(segment, NVTX3EXT_CBID_nvtxRangeEndPayload, &end_payload);
  fill_slot(segment, NVTX3EXT_CBID_nvtxDomainIsEnabled, &domain_is_enabled);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimestampGet, &timestamp_get);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimeDomainRegister, &time_domain_register);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimerSource, &timer_source);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimerSourceWithData, &timer_source_with_data);
  fill_slot(segment, NVTX3EXT_CBID_nvtxScopeRegister, &scope_register);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimeSyncPoint, &time_sync_point);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimeSyncPointTable, &time_sync_table);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimestampConversionFactor, &conversion_factor);
  fill_slot(segment, NVTX3EXT_CBID_nvtxEventSubmit, &event_submit);
  fill_slot(segment, NVTX3EXT_CBID_nvtxEventBatchSubmit, &event_batch_submit);
}

}  // namespace nvtx_perfetto::injection
