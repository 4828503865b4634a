// SPDX-License-Identifier: Apache-2.0
#include "live/attribute_copy.h"

#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nvtx_perfetto::live {
namespace {

constexpr uint32_t kAbsent = UINT32_MAX;
// A chain longer than this is taken for a loop.
constexpr int kMaxLinks = 16;

void pack_text(ByteBuffer& out, const char* text, const PackLimits& limits) {
  if (!text) {
    out.append_value(kAbsent);
    return;
  }
  auto size = static_cast<uint32_t>(strnlen(text, limits.name));
  out.append_value(size);
  out.append(text, size);
}

// | count: u32 | each: size: u32, the struct's bytes, its unit or an absent text |
void pack_semantics(ByteBuffer& out, const nvtxSemanticsHeader_t* chain, const PackLimits& limits) {
  constexpr uint32_t kMost = 128;
  uint32_t count = 0;
  for (const auto* link = chain; link && count < kMaxLinks; link = link->next) ++count;
  out.append_value(count);
  for (const auto* link = chain; count > 0; link = link->next, --count) {
    bool whole = link->structSize >= sizeof(nvtxSemanticsHeader_t) && link->structSize <= kMost;
    uint32_t size = whole ? link->structSize : static_cast<uint32_t>(sizeof(nvtxSemanticsHeader_t));
    out.append_value(size);
    out.append(link, size);
    bool counter =
        link->semanticId == NVTX_SEMANTIC_ID_COUNTERS_V1 && size >= sizeof(nvtxSemanticsCounter_t);
    pack_text(out, counter ? reinterpret_cast<const nvtxSemanticsCounter_t*>(link)->unit : nullptr,
              limits);
  }
}

template <typename T>
T masked(uint64_t mask, uint64_t bit, T value) {
  return mask & bit ? value : T{};
}

}  // namespace

bool Unpacker::read_text(std::string& text, bool& present) {
  uint32_t size;
  if (!read(size)) return false;
  present = size != kAbsent;
  if (!present) return true;
  if (size > bytes_.size()) return false;
  text.assign(bytes_.data(), size);
  bytes_.remove_prefix(size);
  return true;
}

bool SemanticsCopy::read(Unpacker& in) {
  uint32_t count;
  if (!in.read(count) || count > kMaxLinks) return false;
  for (; count > 0; --count) {
    uint32_t size;
    links_.emplace_back();
    Link& link = links_.back();
    std::memset(link.bytes, 0, sizeof(link.bytes));
    if (!in.read(size) || size > kMostBytes || size < sizeof(nvtxSemanticsHeader_t)) return false;
    for (uint32_t i = 0; i < size; ++i) {
      if (!in.read(link.bytes[i])) return false;
    }
    bool present = false;
    if (!in.read_text(link.unit, present)) return false;
    auto* head = reinterpret_cast<nvtxSemanticsHeader_t*>(link.bytes);
    head->structSize = size;
    head->next = nullptr;
    if (head->semanticId == NVTX_SEMANTIC_ID_COUNTERS_V1 &&
        size >= sizeof(nvtxSemanticsCounter_t)) {
      reinterpret_cast<nvtxSemanticsCounter_t*>(head)->unit = present ? link.unit.c_str() : nullptr;
    }
    if (links_.size() > 1) {
      reinterpret_cast<nvtxSemanticsHeader_t*>(links_[links_.size() - 2].bytes)->next = head;
    }
  }
  return true;
}

const nvtxSemanticsHeader_t* SemanticsCopy::first() const {
  return links_.empty() ? nullptr
                        : reinterpret_cast<const nvtxSemanticsHeader_t*>(links_.front().bytes);
}

void pack_schema(ByteBuffer& out, const nvtxPayloadSchemaAttr_t& given, const PackLimits& limits) {
  uint64_t mask = given.fieldMask;
  const auto* entries = masked(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES, given.entries);
  uint64_t count = masked(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES, given.numEntries);
  if (!entries) count = 0;
  out.append_value(mask & ~uint64_t{NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_EXTENSION});
  out.append_value(masked(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE, given.type));
  out.append_value(masked(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS, given.flags));
  out.append_value(
      uint64_t{masked(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE, given.payloadStaticSize)});
  out.append_value(
      uint64_t{masked(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT, given.packAlign)});
  pack_text(out, masked(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME, given.name), limits);
  out.append_value(std::min<uint64_t>(count, limits.entries + 1));
  for (uint64_t i = 0; i < std::min<uint64_t>(count, limits.entries); ++i) {
    const nvtxPayloadSchemaEntry_t& entry = entries[i];
    out.append_value(entry.flags);
    out.append_value(entry.type);
    out.append_value(entry.arrayOrUnionDetail);
    out.append_value(entry.offset);
    pack_text(out, entry.name, limits);
    pack_text(out, entry.description, limits);
    pack_semantics(out, entry.semantics, limits);
  }
}

bool SchemaCopy::read(std::string_view body) {
  Unpacker in(body);
  uint64_t size;
  uint64_t align;
  uint64_t count;
  bool named;
  texts_.emplace_back();
  if (!in.read(attributes_.fieldMask) || !in.read(attributes_.type) ||
      !in.read(attributes_.flags) || !in.read(size) || !in.read(align) ||
      !in.read_text(texts_.back(), named) || !in.read(count)) {
    return false;
  }
  attributes_.payloadStaticSize = size;
  attributes_.packAlign = align;
  attributes_.name = named ? texts_.back().c_str() : nullptr;
  for (uint64_t i = 0; i < count; ++i) {
    if (!read_entry(in)) return false;
  }
  attributes_.entries = entries_.data();
  attributes_.numEntries = entries_.size();
  return true;
}

bool SchemaCopy::read_entry(Unpacker& in) {
  nvtxPayloadSchemaEntry_t entry = {};
  bool named;
  bool described;
  texts_.emplace_back();
  std::string& name = texts_.back();
  texts_.emplace_back();
  std::string& description = texts_.back();
  semantics_.emplace_back();
  if (!in.read(entry.flags) || !in.read(entry.type) || !in.read(entry.arrayOrUnionDetail) ||
      !in.read(entry.offset) || !in.read_text(name, named) ||
      !in.read_text(description, described) || !semantics_.back().read(in)) {
    return false;
  }
  entry.name = named ? name.c_str() : nullptr;
  entry.description = described ? description.c_str() : nullptr;
  entry.semantics = semantics_.back().first();
  entries_.push_back(entry);
  return true;
}

void pack_enum(ByteBuffer& out, const nvtxPayloadEnumAttr_t& given, const PackLimits& limits) {
  uint64_t mask = given.fieldMask;
  const auto* entries = masked(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES, given.entries);
  uint64_t count = masked(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES, given.numEntries);
  if (!entries) count = 0;
  out.append_value(mask & ~uint64_t{NVTX_PAYLOAD_ENUM_ATTR_FIELD_EXTENSION});
  out.append_value(uint64_t{masked(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE, given.sizeOfEnum)});
  out.append_value(std::min<uint64_t>(count, limits.entries + 1));
  for (uint64_t i = 0; i < std::min<uint64_t>(count, limits.entries); ++i) {
    out.append_value(entries[i].value);
    out.append_value(entries[i].isFlag);
    pack_text(out, entries[i].name, limits);
  }
}

bool EnumCopy::read(std::string_view body) {
  Unpacker in(body);
  uint64_t size;
  uint64_t count;
  if (!in.read(attributes_.fieldMask) || !in.read(size) || !in.read(count)) {
    return false;
  }
  attributes_.sizeOfEnum = size;
  for (; count > 0; --count) {
    nvtxPayloadEnum_t entry = {};
    bool named;
    texts_.emplace_back();
    if (!in.read(entry.value) || !in.read(entry.isFlag) || !in.read_text(texts_.back(), named)) {
      return false;
    }
    entry.name = texts_.back().c_str();
    entries_.push_back(entry);
  }
  attributes_.entries = entries_.data();
  attributes_.numEntries = entries_.size();
  return true;
}

void pack_scope(ByteBuffer& out, const char* path, uint64_t parent, const PackLimits& limits) {
  out.append_value(parent);
  pack_text(out, path, limits);
}

bool ScopeCopy::read(std::string_view body) {
  Unpacker in(body);
  bool present;
  return in.read(parent) && in.read_text(path, present);
}

void pack_time_domain(ByteBuffer& out, const nvtxTimeDomainAttr_t& given) {
  out.append_value(given.scopeId);
  out.append_value(given.timestampTypeId);
  out.append_value(given.timerResolution);
  out.append_value(given.timerStart);
}

bool TimeDomainCopy::read(std::string_view body) {
  Unpacker in(body);
  return in.read(scope) && in.read(type) && in.read(resolution) && in.read(start);
}

void pack_counter(ByteBuffer& out, const nvtxCounterAttr_t& given, const PackLimits& limits) {
  nvtxCounterAttr_t known = {};
  std::memcpy(&known, &given, std::min(given.structSize, sizeof(known)));
  out.append_value(known.schemaId);
  out.append_value(known.scopeId);
  pack_text(out, known.name, limits);
  pack_text(out, known.description, limits);
  pack_semantics(out, known.semantics, limits);
}

bool CounterCopy::read(std::string_view body) {
  Unpacker in(body);
  bool named;
  bool described;
  return in.read(schema) && in.read(scope) && in.read_text(name, named) &&
         in.read_text(description, described) && semantics_.read(in);
}

}  // namespace nvtx_perfetto::live
