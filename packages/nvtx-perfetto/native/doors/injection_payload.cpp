// SPDX-License-Identifier: Apache-2.0
// The payload extension: schemas, enums, scopes, and events made of payloads.
#include <algorithm>

#include "doors/injection_extensions.h"
#include "live/attribute_copy.h"

namespace nvtx_perfetto::injection {
namespace {

using live::DefinitionKind;

uint64_t NVTX_API schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* given) {
  if (!given) return 0;
  uint64_t wanted =
      given->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID ? given->schemaId : 0;
  wanted =
      static_id(wanted, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  return define(domain, DefinitionKind::kSchema, wanted, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START,
                [&](ByteBuffer& out) { live::pack_schema(out, *given); });
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

void NVTX_API event_submit(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                           size_t count) {
  if (!payloads || count == 0) return;
  read_timers(domain);
  in_domain(domain, 0, [&](ThreadWriter& writer, uint32_t index) {
    writer.submit(index, event_of(payloads, count));
    return 0;
  });
}

void NVTX_API event_batch_submit(nvtxDomainHandle_t domain, const nvtxEventBatch_t* given) {
  if (!given || !given->events || given->size == 0) return;
  read_timers(domain);
  in_domain(domain, 0, [&](ThreadWriter& writer, uint32_t index) {
    size_t row = Recorder::existing()->registry().row_size(index, given->eventSchemaId);
    // Rows whose size depends on their data, and what lies beside the rows, are not read.
    bool beside = given->flexData && given->flexDataSize > 0;
    if (row == 0 || given->size % row != 0 || beside) writer.tally(Tally::kUnsupported);
    if (row == 0) return 0;
    live::EventBatchHead head{given->eventSchemaId, given->scope, given->flags, row};
    ThreadWriter::Batch batch{live::kEventBatch, index,  0, given->events, row,
                              given->size / row, nullptr};
    writer.batch(batch, &head, sizeof(head));
    return 0;
  });
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
  fill_slot(segment, NVTX3EXT_CBID_nvtxScopeRegister, &scope_register);
  fill_slot(segment, NVTX3EXT_CBID_nvtxEventSubmit, &event_submit);
  fill_slot(segment, NVTX3EXT_CBID_nvtxEventBatchSubmit, &event_batch_submit);
}

}  // namespace nvtx_perfetto::injection
