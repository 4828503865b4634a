// SPDX-License-Identifier: Apache-2.0
// Schemas and rows for tests, built the way NVTX describes them.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "payload/decoder.h"
#include "payload/schema_builder.h"

namespace schemas {

using Entry = nvtxPayloadSchemaEntry_t;

inline Entry entry(uint64_t type, const char* name, uint64_t flags = 0, uint64_t detail = 0,
                   uint64_t offset = 0) {
  Entry out;
  std::memset(&out, 0, sizeof(out));
  out.flags = flags;
  out.type = type;
  out.name = name;
  out.arrayOrUnionDetail = detail;
  out.offset = offset;
  return out;
}

// Registered types and strings of a made-up domain.
class Types final : public nvtx_perfetto::TypeLookup, public nvtx_perfetto::StringLookup {
 public:
  const nvtx_perfetto::Schema* find_schema(uint64_t id) const override {
    auto found = schemas_.find(id);
    return found == schemas_.end() ? nullptr : found->second.get();
  }
  const nvtx_perfetto::EnumType* find_enum(uint64_t id) const override {
    auto found = enums_.find(id);
    return found == enums_.end() ? nullptr : found->second.get();
  }
  const std::string* find_string(uint64_t handle) const override {
    auto found = strings.find(handle);
    return found == strings.end() ? nullptr : &found->second;
  }

  nvtx_perfetto::BuiltSchema build(const std::vector<Entry>& entries, uint64_t flags = 0,
                                   uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC) const {
    nvtxPayloadSchemaAttr_t given;
    std::memset(&given, 0xCD, sizeof(given));  // unmasked fields are garbage
    given.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    given.type = type;
    given.flags = flags;
    given.entries = entries.data();
    given.numEntries = entries.size();
    return nvtx_perfetto::build_schema(given, *this);
  }

  // Builds and keeps a schema that must be good; others may refer to it by its id.
  const nvtx_perfetto::Schema& add(const std::vector<Entry>& entries, uint64_t flags = 0,
                                   uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC) {
    auto built = build(entries, flags, type);
    if (!built.schema) throw std::runtime_error(built.problem);
    uint64_t id = next_id_++;
    built.schema->id = id;
    return *(schemas_[id] = std::move(built.schema));
  }

  uint64_t add_enum(std::vector<nvtxPayloadEnum_t> labels, size_t size) {
    nvtxPayloadEnumAttr_t given;
    std::memset(&given, 0xCD, sizeof(given));
    given.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    given.entries = labels.data();
    given.numEntries = labels.size();
    given.sizeOfEnum = size;
    auto built = nvtx_perfetto::build_enum(given);
    if (!built.type) throw std::runtime_error(built.problem);
    uint64_t id = next_id_++;
    enums_[id] = std::move(built.type);
    return id;
  }

  std::map<uint64_t, std::string> strings;

 private:
  uint64_t next_id_ = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
  std::map<uint64_t, std::unique_ptr<nvtx_perfetto::Schema>> schemas_;
  std::map<uint64_t, std::unique_ptr<nvtx_perfetto::EnumType>> enums_;
};

// The bytes of values one after another, each at a multiple of its own size.
class Bytes {
 public:
  template <typename T>
  Bytes& add(T value) {
    while (bytes_.size() % sizeof(T) != 0) bytes_.push_back(0);
    return raw(&value, sizeof(value));
  }
  Bytes& raw(const void* from, size_t size) {
    const auto* at = static_cast<const uint8_t*>(from);
    bytes_.insert(bytes_.end(), at, at + size);
    return *this;
  }
  nvtx_perfetto::Row row(const nvtx_perfetto::Schema& schema) const {
    return {&schema, bytes_.data(), bytes_.size()};
  }
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace schemas
