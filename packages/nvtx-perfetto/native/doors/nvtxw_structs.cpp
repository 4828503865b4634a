// SPDX-License-Identifier: Apache-2.0
#include "doors/nvtxw_structs.h"

#include <algorithm>

#include "model/time_source.h"
#include "payload/schema_builder.h"

namespace nvtx_perfetto {
namespace {

// Bytes up to the terminator, for payloads that leave their size to us.
size_t terminated_size(const SchemaEntry& entry, const uint8_t* text) {
  static const uint8_t kZero[4] = {0, 0, 0, 0};
  size_t unit = entry.value.size;
  size_t size = 0;
  while (std::memcmp(text + size, kZero, unit) != 0) size += unit;
  return size + unit;
}

bool has_number(const Schema& schema) {
  return std::any_of(schema.entries.begin(), schema.entries.end(), [](const SchemaEntry& entry) {
    return entry.nested ? has_number(*entry.nested) : is_countable(entry.value.kind);
  });
}

bool has_deltas(const Schema& schema) {
  return std::any_of(schema.entries.begin(), schema.entries.end(), [](const SchemaEntry& entry) {
    return entry.counter.delta == DeltaKind::kDelta || (entry.nested && has_deltas(*entry.nested));
  });
}

bool is_terminated_text(const Schema& schema) {
  const SchemaEntry& entry = schema.entries[0];
  return schema.entries.size() == 1 && entry.value.kind == ValueKind::kText &&
         (entry.array == ArrayKind::kZeroTerminated || entry.array == ArrayKind::kFill);
}

}  // namespace

Status read_stream(const nvtxwStreamAttributes_t& given, StreamSpec& out) {
  if (given.orderingType < NVTXW_STREAM_ORDERING_TYPE_UNKNOWN ||
      given.orderingType > NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END ||
      given.orderInterleaving < NVTXW_STREAM_ORDER_INTERLEAVING_NONE ||
      given.orderInterleaving > NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE ||
      given.orderingSkid < NVTXW_STREAM_ORDERING_SKID_NONE ||
      given.orderingSkid > NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT) {
    return fail(Status::kInvalid, "the stream's ordering is none that NVTXW version 2 knows");
  }
  if (given.scopeId >= NVTX_SCOPE_CURRENT_HW_MACHINE && given.scopeId < kPredefinedScopes) {
    return fail(Status::kInvalid, "NVTX_SCOPE_CURRENT_* cannot be a stream's scope");
  }
  out.name = text_or_empty(given.name);
  out.scope = given.scopeId;
  out.time_domain = given.timeDomainId;
  out.per_scope = given.orderInterleaving == NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE;
  out.ordering = static_cast<Ordering>(given.orderingType);
  out.partly = given.orderingSkid != NVTXW_STREAM_ORDERING_SKID_NONE;
  return Status::kOk;
}

Status read_counter(const nvtxCounterAttr_t& given, const Domain& domain, Counter& out) {
  const Schema* schema = domain.find_schema(given.schemaId);
  if (!schema) {
    return fail(Status::kInvalid, "no schema or number type " + std::to_string(given.schemaId) +
                                      " in domain " + domain.shown_name());
  }
  if (given.scopeId >= NVTX_SCOPE_CURRENT_HW_MACHINE && given.scopeId < kPredefinedScopes) {
    return fail(Status::kInvalid, "NVTX_SCOPE_CURRENT_* cannot be a counter's scope");
  }
  bool predefined = given.schemaId < kFirstStaticId;
  if (!predefined && (!schema->fixed || schema->size == 0)) {
    return fail(Status::kInvalid, "a counter's samples must have a fixed size");
  }
  bool any = false;
  for (size_t i = 0; i < schema->entries.size(); ++i) {
    const SchemaEntry& entry = schema->entries[i];
    bool time = entry.role == EntryRole::kTimestamp || entry.role == EntryRole::kMark ||
                entry.role == EntryRole::kBegin;
    if (time && (!is_integer(entry.value.kind) || entry.array != ArrayKind::kNone)) {
      return fail(Status::kInvalid, "the time that a counter embeds must be an integer");
    }
    if (time) out.timestamp = static_cast<int>(i);
    any = any ||
          (!time && (entry.nested ? has_number(*entry.nested) : is_countable(entry.value.kind)));
  }
  if (!any) return fail(Status::kInvalid, "a counter needs a number to sample");
  Semantics semantics = read_semantics(given.semantics);
  out.name = text_or_empty(given.name);
  if (out.name.empty()) out.name = "counter";
  out.description = text_or_empty(given.description);
  // An unknown scope counts as none, so says the header.
  out.scope = domain.find_scope(given.scopeId) ? given.scopeId : 0;
  out.schema = schema;
  out.semantics = semantics.counter;
  out.time_domain = semantics.time_domain;
  out.sample_size = predefined ? schema->entries[0].value.size : schema->size;
  out.deltas = has_deltas(*schema) || semantics.counter.delta == DeltaKind::kDelta;
  return Status::kOk;
}

Status check_time_domain(const TimeDomain& given) {
  bool known = given.resolution >= 0 && given.start <= NVTX_TIMER_START_WIN_FILETIME &&
               predefined_source(given.timestamp_type);
  return known ? Status::kOk
               : fail(Status::kInvalid, "the time domain's type, resolution or start is unknown");
}

BatchOrder read_batch_order(uint64_t flags) {
  switch (flags >> 1 & 3) {
    case 0: return BatchOrder::kSorted;
    case 1: return BatchOrder::kPartly;
    case 2: return BatchOrder::kPerScope;
    default: return BatchOrder::kUnsorted;
  }
}

void PayloadRows::add(const Row& row) {
  if (count_ < kInline) {
    inline_[count_++] = row;
    return;
  }
  if (count_ == kInline) more_.assign(inline_, inline_ + kInline);
  more_.push_back(row);
  ++count_;
}

Status PayloadRows::read(const Domain& domain, const nvtxPayloadData_t* payloads, size_t count) {
  if (!payloads || count == 0) return fail(Status::kInvalid, "an event needs a payload");
  for (size_t i = 0; i < count; ++i) {
    const nvtxPayloadData_t& given = payloads[i];
    if (given.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED || given.size == 0) continue;
    uint64_t id = given.schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_RAW ? NVTX_PAYLOAD_ENTRY_TYPE_BYTE
                                                                 : given.schemaId;
    const Schema* schema = domain.find_schema(id);
    if (!schema || !given.payload) {
      return fail(Status::kInvalid,
                  "payload " + std::to_string(i) + " has no data, or its schema " +
                      std::to_string(given.schemaId) + " is not in domain " + domain.shown_name());
    }
    Row row{schema, static_cast<const uint8_t*>(given.payload), given.size};
    if (given.size == SIZE_MAX) {
      if (!is_terminated_text(*schema)) {
        return fail(Status::kInvalid, "only null-terminated text may leave its size open");
      }
      row.size = terminated_size(schema->entries[0], row.data);
    }
    if (row.size > kMaxRowSize) {
      return fail(Status::kInvalid, "payload " + std::to_string(i) + " has " +
                                        std::to_string(row.size) + " bytes; 1 GiB is the most");
    }
    if (schema->fixed && row.size < schema->size) {
      return fail(Status::kInvalid, "payload " + std::to_string(i) + " has " +
                                        std::to_string(row.size) + " bytes, its schema " +
                                        std::to_string(schema->size));
    }
    if (schema->fixed) row.size = schema->size;
    add(row);
  }
  return count_ ? Status::kOk : fail(Status::kInvalid, "no payload of the event holds data");
}

}  // namespace nvtx_perfetto
