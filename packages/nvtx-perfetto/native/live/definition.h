// SPDX-License-Identifier: Apache-2.0
// What events refer to, written once: names, schemas, counters. Definitions fill chunks of the
// live file, eight bytes at a time, so that a later drain by another process can resolve them.
//
//   | size: u32 | kind: u16 | domain: u16 | id: u64 | body ... |      (size counts all of it)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/byte_buffer.h"
#include "live/chunk_pool.h"

namespace nvtx_perfetto::live {

enum class DefinitionKind : uint16_t {
  kDomain = 1,  // id: its index; body: the name
  kString,      // id: its index; body: the text
  kCategory,    // id: the category; body: the name
  kThreadName,  // id: the OS's thread id; body: the name
  kSchema,      // body: see attribute_copy.h
  kEnum,
  kScope,
  kCounter,
  kTimeDomain,
};

struct DefinitionHead {
  uint32_t size;
  uint16_t kind;
  uint16_t domain;
  uint64_t id;
};
static_assert(sizeof(DefinitionHead) == 16);

constexpr size_t kMaxDefinition = kChunkSize - kChunkStart;

// Appends one definition to `out`.
void add_definition(ByteBuffer& out, DefinitionKind kind, uint32_t domain, uint64_t id,
                    std::string_view body);

// Writes definitions into a live file. Not safe for use by several threads at once.
class DefinitionWriter {
 public:
  DefinitionWriter(LiveFile& file, ChunkPool& pool) : file_(file), pool_(pool) {}
  // Whole definitions. When there is no room for one of them, it and those behind it are left
  // out; returns how many that are.
  uint64_t append(const uint8_t* definitions, size_t size);
  // Counts definitions that were not written.
  void refuse(uint64_t much);

 private:
  bool append_one(const uint8_t* definition, size_t size);
  bool next_chunk();

  LiveFile& file_;
  ChunkPool& pool_;
  uint32_t chunks_ = 0;
  int64_t chunk_ = -1;
};

// Visits what has been written since the last visit.
class DefinitionReader {
 public:
  explicit DefinitionReader(const LiveFile& file) : file_(file) {}
  template <typename Visit>
  void read(const Visit& visit) {
    const DefinitionHead* head;
    while ((head = next()) != nullptr) {
      const char* body = reinterpret_cast<const char*>(head + 1);
      visit(*head, std::string_view(body, head->size - sizeof(*head)));
    }
  }

 private:
  // Null at the end, and before anything that is no definition.
  const DefinitionHead* next();

  const LiveFile& file_;
  Cursor at_{0, kChunkStart};
  uint32_t visited_ = 0;
};

}  // namespace nvtx_perfetto::live
