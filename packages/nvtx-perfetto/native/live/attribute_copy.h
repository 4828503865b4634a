// SPDX-License-Identifier: Apache-2.0
// NVTX attribute structs, packed into the bytes of a definition and unpacked again, so that
// what a dead process registered can be built by whoever drains it.
#pragma once

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_buffer.h"

namespace nvtx_perfetto::live {

// A definition of a live file must fit in a chunk; longer names are cut, longer lists refused.
struct PackLimits {
  size_t name = 4096;
  uint64_t entries = 4096;
};
void pack_schema(ByteBuffer& out, const nvtxPayloadSchemaAttr_t& attributes,
                 const PackLimits& limits = {});
void pack_enum(ByteBuffer& out, const nvtxPayloadEnumAttr_t& attributes,
               const PackLimits& limits = {});
void pack_scope(ByteBuffer& out, const char* path, uint64_t parent, const PackLimits& limits = {});
// Reads `attributes` only as far as its structSize says.
void pack_counter(ByteBuffer& out, const nvtxCounterAttr_t& attributes,
                  const PackLimits& limits = {});

void pack_time_domain(ByteBuffer& out, const nvtxTimeDomainAttr_t& attributes);

// Takes packed bytes apart; every read says whether it succeeded.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  bool read(T& value) {
    if (bytes_.size() < sizeof(T)) return false;
    __builtin_memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return true;
  }
  // Texts may be absent, which is not the same as empty.
  bool read_text(std::string& text, bool& present);

 private:
  std::string_view bytes_;
};

// A chain of semantics and the texts it points to.
class SemanticsCopy {
 public:
  bool read(Unpacker& in);
  const nvtxSemanticsHeader_t* first() const;

 private:
  static constexpr size_t kMostBytes = 128;
  struct Link {
    alignas(8) uint8_t bytes[kMostBytes];
    std::string unit;
  };
  std::deque<Link> links_;
};

class SchemaCopy {
 public:
  bool read(std::string_view body);
  const nvtxPayloadSchemaAttr_t& attributes() const { return attributes_; }

 private:
  bool read_entry(Unpacker& in);

  nvtxPayloadSchemaAttr_t attributes_ = {};
  std::vector<nvtxPayloadSchemaEntry_t> entries_;
  std::deque<std::string> texts_;
  std::deque<SemanticsCopy> semantics_;
};

class EnumCopy {
 public:
  bool read(std::string_view body);
  const nvtxPayloadEnumAttr_t& attributes() const { return attributes_; }

 private:
  nvtxPayloadEnumAttr_t attributes_ = {};
  std::vector<nvtxPayloadEnum_t> entries_;
  std::deque<std::string> texts_;
};

struct ScopeCopy {
  uint64_t parent = 0;
  std::string path;
  bool read(std::string_view body);
};

struct TimeDomainCopy {
  uint64_t scope = 0;
  uint64_t type = 0;
  int64_t resolution = 0;
  uint64_t start = 0;
  bool read(std::string_view body);
};

struct CounterCopy {
  uint64_t schema = 0;
  uint64_t scope = 0;
  std::string name;
  std::string description;
  bool read(std::string_view body);
  const nvtxSemanticsHeader_t* semantics() const { return semantics_.first(); }

 private:
  SemanticsCopy semantics_;
};

}  // namespace nvtx_perfetto::live
